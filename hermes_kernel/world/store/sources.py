"""Where facts are before they are in the database. A fold and a reader ask every source for what lies behind the offset
that the database remembers for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

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
