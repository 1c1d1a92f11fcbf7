"""Folding in a process of its own. DuckDB would cost every kernel its 60 MB, and its life where a disk fails under a
checkpoint; nothing waits for it, for what is not folded yet is read from the journals.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

STORE_URL = "HERMES_STORE_URL"
EVERY_SECONDS = 20.0
"""At most one process for a kernel in that time, however many turns it plays. A kernel or script that lives shorter
leaves its journal to whoever comes next."""

_LEFT: set[int] = set()  # processes that outlived who started them: looked for when the next one is started


class Apart:
    """Starts the process that folds one home. ``elapsed`` is a clock that never jumps, in seconds; ``store_url`` names
    the store it shares, or is empty."""

    def __init__(self, home: Path, elapsed: Callable[[], float], store_url: str = "") -> None:
        self._home = home
        self._store_url = store_url
        self._elapsed = elapsed
        self._due = self._worth = elapsed() + EVERY_SECONDS
        self._owed = False
        self._child = 0

    def fold(self) -> None:
        """Have the home folded, now or when it is due or at the end, whichever is next."""
        self._owed = True
        if self._elapsed() >= self._due:
            self._start()

    def close(self) -> None:
        """Nobody will ask again: start what was asked for and is not begun."""
        if self._owed and self._elapsed() >= self._worth:
            self._start()
        if self._child:
            _LEFT.add(self._child)

    def _start(self) -> None:
        """Nothing happens while it is being done. Without the means to start a process nothing is lost: the next kernel
        folds."""
        _LEFT.difference_update([child for child in tuple(_LEFT) if not _runs(child)])
        if self._running():
            return
        self._owed, self._due = False, self._elapsed() + EVERY_SECONDS
        quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
        # In a folder of notebooks, a `random.py` beside them would be taken for Python's own.
        command = [sys.executable, "-P", "-m", "hermes_kernel.world.store", str(self._home)]
        # There it may hold a password: a command line is for all to see.
        environment = {**os.environ, STORE_URL: self._store_url}
        with suppress(OSError):
            # A process group of its own: an interrupt meant for the notebook is not meant for it.
            self._child = os.posix_spawn(sys.executable, command, environment, file_actions=quiet, setpgroup=0)

    def _running(self) -> bool:
        if not (self._child and _runs(self._child)):
            self._child = 0
        return self._child != 0


def _runs(child: int) -> bool:
    """Whether that process has not ended. Of one that has, nothing is left after this."""
    with suppress(ChildProcessError):
        return os.waitpid(child, os.WNOHANG) == (0, 0)
    return False
