"""Reading database and journals as one: a fact is found from the moment it is acknowledged, folded or not.

Journals are read first. Whoever removes one makes the database and says so in ``retired.json`` before, so what is
looked up there afterwards is never out of date.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from hermes_kernel.world.store import database
from hermes_kernel.world.store.fold import retired
from hermes_kernel.world.store.journal import journals, read
from hermes_kernel.world.store.locks import Busy, held, shared
from hermes_kernel.world.store.places import Places, StoreError
from hermes_kernel.world.store.records import Record, ordered

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PATIENCE = 30.0  # seconds a reader waits for a fold to end; one of 10,000 facts takes under one on a quiet machine


def records(places: Places, session_id: str) -> list[Record]:
    """Every record of a session in order, without waking DuckDB where the journals have them all.

    Raises:
        StoreError: the database cannot be read now; the text says why.
    """
    found = ordered(_unfolded(places, {}, session_id))
    if not places.database.exists():
        return found
    if found and found[0].n == 0 and found[0].t > retired(places):
        return found
    with opened(places) as connection:
        tails = _unfolded(places, database.offsets(connection), session_id)
        return ordered((*database.of_session(connection, session_id), *tails))


@contextmanager
def everything(places: Places) -> Iterator[DuckDBPyConnection]:
    """A connection in which ``everything`` is every fact of the home.

    Raises:
        StoreError: the database cannot be read now; the text says why.
    """
    if not places.database.exists():
        found = list(_unfolded(places, {}))
        if not places.database.exists():
            with closing(database.connect()) as connection:
                database.union(connection, found, stored=False)
                yield connection
            return
    with opened(places) as connection:
        found = list(_unfolded(places, database.offsets(connection)))
        database.union(connection, found, stored=True)
        yield connection


@contextmanager
def opened(places: Places) -> Iterator[DuckDBPyConnection]:
    """The database, read-only, while nobody folds. One that a crash left in need of a writer's care gets it first."""
    try:
        _heal(places)
        with shared(places.lock, PATIENCE), database.reading(places.database) as connection:
            yield connection
    except Busy:
        raise StoreError(f"{places.database} is being folded by another process: try again") from None


def _heal(places: Places) -> None:
    """A write-ahead log outside a fold is what a crash left behind. Only a writer can replay it or set it aside."""
    if database.wal(places.database).exists():
        with held(places.lock, PATIENCE):
            if database.wal(places.database).exists():
                database.heal(places.database)


def _unfolded(places: Places, offsets: dict[str, int], session_id: str | None = None) -> Iterator[Record]:
    for path in journals(places.journals):
        yield from read(path, offsets.get(path.name, 0), session_id).records
