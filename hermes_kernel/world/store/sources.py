"""Where facts are before they are in the database. A fold and a reader ask every source for what lies behind the offset
that the database remembers for it: the journals of the home first, then a store that several homes share, if any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from hermes_kernel.world.store.journal import journals, read
from hermes_kernel.world.store.records import Record


class Behind(NamedTuple):
    """What a source holds behind an offset: its records, the offset behind the last, and how many were damaged."""

    name: str
    records: tuple[Record, ...]
    end: int
    damaged: int = 0


class Source(Protocol):
    """A place with facts in it: the journals of this home, or a server that several homes share."""

    def behind(self, done: Mapping[str, int], session: str | None = None) -> Iterator[Behind]:
        """What is not folded yet, given how far each name has been folded (0 where it is not in ``done``); of one
        session or of all. Records may be given again that were given before: their uids are the same.

        Raises:
            StoreError: the source cannot be read now; one line says why.
        """
        ...


class Shared(Source, Protocol):
    """A store that several homes share. Every fact of this home goes to its journal first and then there."""

    @property
    def url(self) -> str:
        """What names the store, with whatever secret it takes to use it."""
        ...

    @property
    def tag(self) -> str:
        """What ends the names of journals whose facts go there: ``-for-`` and eight hex digits."""
        ...

    @property
    def waiting(self) -> str:
        """One line while the store cannot be had; else nothing."""
        ...

    def append(self, records: Sequence[Record]) -> None:
        """Records that the journal has just taken. Where they cannot be had there now, `waiting` says so, nothing is
        raised, and `ship` brings them later.

        Raises:
            StoreError: somebody else acts on their session now, or has deleted it.
        """
        ...

    def ship(self, records: Sequence[Record]) -> None:
        """Records of a journal of this home, each at least once; those that are there already add nothing.

        Raises:
            StoreError: they could not be brought now; the journal stays until they are.
        """
        ...

    def claim(self, session_id: str) -> AbstractContextManager[object]:
        """Be the one process in this session in any home; in this one, while the store is away.

        Raises:
            StoreError: another process is in it; the text names it.
        """
        ...

    def check(self, session_id: str) -> None:
        """Nothing, while a claim on the session was not lost to another process.

        Raises:
            StoreError: it was; the text names who has it.
        """
        ...

    def deleted(self) -> frozenset[str]:
        """Every session that was deleted in any home.

        Raises:
            StoreError: the store cannot be asked now.
        """
        ...

    def delete(self, session_id: str, now: float) -> int:
        """Forget a session for good, in all homes. Gives how many facts the store had of it.

        Raises:
            StoreError: the store cannot be asked now.
        """
        ...

    def close(self) -> None:
        """Bring what is owed, if that can be, and let go of the store until it is next needed."""
        ...


class Journals:
    """The journals of one home as a `Source`. A name is a journal's file name, an offset counts bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def behind(self, done: Mapping[str, int], session: str | None = None) -> Iterator[Behind]:
        for path in journals(self._folder):
            tail = read(path, done.get(path.name, 0), session)
            yield Behind(path.name, tail.records, tail.end, tail.damaged)
