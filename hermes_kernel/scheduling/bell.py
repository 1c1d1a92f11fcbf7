"""Bells between the processes of one home: a file is there, or it is not.

What was rung stays so until somebody quiets it, also across restarts; a bell says nothing that is not in the store.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from hermes_kernel.scheduling.ports import Bell
from hermes_kernel.world.store.disk import PRIVATE_FILE, make

JOBS = "jobs"
"""The bell that says: something about jobs has been appended, look."""

LONGEST = 200  # bytes of a file's name, as file systems take them, less our ending
OLD = 2 * 86_400  # seconds after which nobody waits for a bell any more


class FileBell(Bell):
    """The bells of one home. No name, whatever it is made of, is a file anywhere else."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "schedule" / "bells"

    def ring(self, name: str) -> None:
        """It is rung when this returns; a disk that refuses loses nothing but time."""
        with suppress(OSError):
            make(self._folder)
            self._tidy()
            os.close(os.open(self._path(name), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))

    def rung(self, name: str) -> bool:
        """One look at the disk."""
        return os.path.lexists(self._path(name))

    def quiet(self, name: str) -> None:
        """Whoever quiets reads the store after it, never before: what is rung in between stays rung."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        quoted = quote(name, safe="", errors="replace")
        if len(quoted) > LONGEST:
            quoted = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
        return self._folder / f"{quoted}.bell"

    def _tidy(self) -> None:
        """Bells of runs that ended long ago without hearing them."""
        kept, before = self._path(JOBS).name, time.time() - OLD
        for entry in os.scandir(self._folder):
            with suppress(OSError):
                if entry.name != kept and entry.stat(follow_symlinks=False).st_mtime < before:
                    Path(entry.path).unlink()
