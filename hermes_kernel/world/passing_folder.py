"""Folders that are thrown away with whoever has them. What a process left that was killed, or what was still written
when it had gone, goes with the next one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

from hermes_kernel.world.store.locks import Claim, left_behind

RANDOM = "[a-z0-9_]{8}"
HELD = ".held"  # there, and locked, as long as somebody has it
SWEPT = 100  # of those that are left are looked at


class PassingFolder:
    """A new private folder at ``path``, for this process; `kind` says what for."""

    def __init__(self, kind: str) -> None:
        prefix = f"hermes-{kind}-"
        _sweep(Path(tempfile.gettempdir()), prefix)
        made = Path(tempfile.mkdtemp(prefix=f".{prefix}"))
        self._held = Claim(made / HELD, kind)
        self.path = made.rename(made.with_name(made.name[1:]))  # whatever has this name is held
        self._maker = os.getpid()

    def close(self) -> None:
        """Throw it away, with all that is in it. A forked child leaves it to its parent. Can be called again."""
        if os.getpid() == self._maker:
            shutil.rmtree(self.path, ignore_errors=True)
            self._held.close()


def _sweep(folder: Path, prefix: str) -> None:
    left = (each for each in folder.glob(f"{prefix}*") if re.fullmatch(prefix + RANDOM, each.name))
    for each in islice(left, SWEPT):
        with suppress(OSError):  # another's, or just thrown away
            _throw_away(each)


def _throw_away(left: Path) -> None:
    if left.is_symlink() or left.stat().st_uid != os.getuid():
        return
    with left_behind(left / HELD) as dead:
        if dead:
            shutil.rmtree(left, ignore_errors=True)
