"""Homes that are thrown away with whoever lives in them. What a process left that was killed, or what was still written
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

PREFIX = "hermes-spec-"
NAME = re.compile(PREFIX + "[a-z0-9_]{8}")
HELD = ".held"  # there, and locked, as long as somebody lives there
SWEPT = 100  # of those that are left are looked at


class PassingHome:
    """A new private folder at ``path``, for this process."""

    def __init__(self) -> None:
        _sweep(Path(tempfile.gettempdir()))
        made = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))
        self._held = Claim(made / HELD, "spec")
        self.path = made.rename(made.with_name(made.name[1:]))  # whatever has this name is held
        self._maker = os.getpid()

    def close(self) -> None:
        """Throw it away, with all that is in it. A forked child leaves it to its parent. Can be called again."""
        if os.getpid() == self._maker:
            shutil.rmtree(self.path, ignore_errors=True)
            self._held.close()


def _sweep(folder: Path) -> None:
    left = (home for home in folder.glob(f"{PREFIX}*") if NAME.fullmatch(home.name))
    for home in islice(left, SWEPT):
        with suppress(OSError):  # another's, or just thrown away
            _throw_away(home)


def _throw_away(home: Path) -> None:
    if home.is_symlink() or home.stat().st_uid != os.getuid():
        return
    with left_behind(home / HELD) as dead:
        if dead:
            shutil.rmtree(home, ignore_errors=True)
