"""A database that stands in the home from a time or a computer where locks held there, read where they do not: from a
copy, for nothing tells whether another computer is writing it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

from hermes_kernel.world.store import database, engine
from hermes_kernel.world.store.migrations import EMPTY, format_of
from hermes_kernel.world.store.places import DATABASE, PRIVATE_FILE, Places, StoreError
from hermes_kernel.world.store.sources import Behind, Journals, Source

AT_A_TIME = 10_000  # facts; so many are in memory at once
TRIES = 3


def at_home(places: Places) -> tuple[Source, ...]:
    """Everything that a home has of its own and that may not be in the database yet."""
    journals = Journals(places.journals)
    return (journals, Earlier(places.home / DATABASE, near)) if (near := places.near) else (journals,)


class Earlier:
    """The database in the home as a `Source`. An offset is the time of its last change, in nanoseconds."""

    def __init__(self, path: Path, near: Path) -> None:
        """``near`` is a folder for the copy."""
        self._path = path
        self._copy = near / "earlier.duckdb"

    def behind(self, done: Mapping[str, int], session: str | None = None) -> Iterator[Behind]:
        """Raises:
        StoreError: it is being written at this moment, or it is damaged.
        """
        with suppress(FileNotFoundError):
            changed = self._path.stat().st_mtime_ns
            if done.get(DATABASE, 0) < changed:
                yield from self._read(self._taken(), session)

    def _taken(self) -> int:
        """The time of the last change of what is in the copy now."""
        for _ in range(TRIES):
            before = self._path.stat()
            if not self._copy.exists() or self._copy.stat().st_mtime_ns != before.st_mtime_ns:
                fresh = self._copy.with_suffix(".new")
                shutil.copy2(self._path, fresh)
                fresh.chmod(PRIVATE_FILE)
                fresh.replace(self._copy)
            after = self._path.stat()
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, self._copy.stat().st_size):
                return before.st_mtime_ns
        raise StoreError(f"{self._path} is being written by another computer: try again")

    def _read(self, changed: int, session: str | None) -> Iterator[Behind]:
        """The last portion bears the offset, those before it smaller ones: none is folded twice."""
        with engine.explaining(self._path), closing(engine.connect()) as connection:
            engine.attach_to_read(connection, self._copy)
            empty = format_of(connection, self._path) == EMPTY
            records = [] if empty else database.facts_in(connection, session)
            portions = [records[at : at + AT_A_TIME] for at in range(0, len(records), AT_A_TIME)] or [[]]
        for left, portion in zip(range(len(portions) - 1, -1, -1), portions, strict=True):
            yield Behind(DATABASE, tuple(portion), changed - left)
