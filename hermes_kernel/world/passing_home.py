"""Homes that are thrown away with whoever lives in them. What a process left that was killed goes with the next one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

from hermes_kernel.world.store.locks import Claim, try_lock

PREFIX = "hermes-spec-"
HELD = ".held"  # locked as long as somebody lives there
SWEPT = 100  # of those that are left are looked at


class PassingHome:
    """A new private folder at ``path``, for this process."""

    def __init__(self) -> None:
        _sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._held = Claim(self.path / HELD, "spec")
        self._maker = os.getpid()

    def close(self) -> None:
        """Throw it away, with all that is in it. A forked child leaves it to its parent. Can be called again."""
        if os.getpid() == self._maker:
            shutil.rmtree(self.path, ignore_errors=True)
            self._held.close()


def _sweep(folder: Path) -> None:
    for left in islice(folder.glob(f"{PREFIX}*/{HELD}"), SWEPT):
        with suppress(OSError):  # another's, or just thrown away
            _throw_away(left)


def _throw_away(left: Path) -> None:
    home = left.parent
    if home.is_symlink() or home.stat().st_uid != os.getuid():
        return
    handle = os.open(left, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if try_lock(handle, fcntl.LOCK_EX):
            shutil.rmtree(home, ignore_errors=True)
    finally:
        os.close(handle)
