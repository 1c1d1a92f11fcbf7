"""Reading database and sources as one: a fact is found from the moment it is acknowledged, folded or not.

Journals are read first. Whoever removes one makes the database and says so in ``retired.json`` before, so what is
looked up there afterwards is never out of date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.world.store import database, migrations
from hermes_kernel.world.store.earlier import at_home
from hermes_kernel.world.store.locks import Busy, held, shared
from hermes_kernel.world.store.places import Places, StoreError
from hermes_kernel.world.store.records import Record, ordered
from hermes_kernel.world.store.retention.retired import retired
from hermes_kernel.world.store.sources import Behind, Shared
from hermes_kernel.world.store.views import FORMAT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PATIENCE = 30.0  # seconds a reader waits for a fold to end; one of 10,000 facts takes under one on a quiet machine


class BeingFolded(StoreError):
    """Others write the database, and went on writing it."""


class Unfolded(NamedTuple):
    """What the sources hold that is not in the database. ``away`` says in one line which of them could not be asked,
    and is empty when all were."""

    behind: tuple[Behind, ...]
    away: str = ""

    @property
    def records(self) -> tuple[Record, ...]:
        return tuple(record for behind in self.behind for record in behind.records)


class Home(NamedTuple):
    """The places of one home and the store it shares with others, if any."""

    places: Places
    shared: Shared | None = None

    def unfolded(self, done: Mapping[str, int], session: str | None = None) -> Unfolded:
        """What lies behind the offsets in `done`, of one session or of all, without what was deleted. A shared store
        that is away costs what others have said there since the last fold."""
        found = [behind for source in at_home(self.places) for behind in source.behind(done, session)]
        away = ""
        if self.shared:
            try:
                found.extend(self.shared.behind(done, session))
            except StoreError as error:
                away = str(error)
        deleted = retired(self.places).deleted
        return Unfolded(tuple(_without(behind, deleted) for behind in found), away)


def _without(behind: Behind, deleted: frozenset[str]) -> Behind:
    if not deleted:
        return behind
    return behind._replace(records=tuple(each for each in behind.records if each.session not in deleted))


def records(home: Home, session_id: str) -> list[Record]:
    """Every record of a session in order, without waking DuckDB where the journals have them all.

    Raises:
        StoreError: the database cannot be read now, or the session may be in a shared store that is away; the text
            says why.
    """
    tails = home.unfolded({}, session_id)
    found = ordered(tails.records)
    if home.places.database.exists() and not _is_whole(home, found, tails.away):
        with opened(home.places) as connection:
            tails = home.unfolded(database.offsets(connection), session_id)
            found = ordered((*database.of_session(connection, session_id), *tails.records))
    if tails.away and not found:
        raise StoreError(tails.away)
    return found


def _is_whole(home: Home, found: list[Record], away: str) -> bool:
    return bool(found) and not away and found[0].n == 0 and found[0].t > retired(home.places).until


@contextmanager
def everything(home: Home) -> Iterator[DuckDBPyConnection]:
    """A connection in which ``everything`` is every fact of the home.

    Raises:
        StoreError: the database cannot be read now; the text says why.
    """
    if not home.places.database.exists():
        found = home.unfolded({})
        if not home.places.database.exists():
            with database.explaining(home.places.database), closing(database.connect()) as connection:
                database.union(connection, found.records, stored=False)
                yield connection
            return
    with opened(home.places) as connection:
        database.union(connection, home.unfolded(database.offsets(connection)).records, stored=True)
        yield connection


@contextmanager
def opened(
    places: Places, lent: DuckDBPyConnection | None = None, patience: float = PATIENCE
) -> Iterator[DuckDBPyConnection]:
    """The database, read-only, while nobody folds, in a connection of its own or in one that is `lent`. A database that
    a crash left in need of a writer's care gets it first."""
    try:
        _heal(places)
        with ExitStack() as stack:
            yield _entered(stack, places, lent, patience)
    except Busy:
        doing = f"brought to format {FORMAT}" if migrations.aside(places.database).exists() else "folded"
        raise BeingFolded(f"{places.database} is being {doing} by another process: try again") from None


def _entered(stack: ExitStack, places: Places, lent: DuckDBPyConnection | None, patience: float) -> DuckDBPyConnection:
    try:
        return _shared(stack, places, lent, patience)
    except database.Older:
        with held(places.lock, patience):
            database.heal(places.database)
        return _shared(stack, places, lent, patience)


def _shared(stack: ExitStack, places: Places, lent: DuckDBPyConnection | None, patience: float) -> DuckDBPyConnection:
    with ExitStack() as entering:
        entering.enter_context(shared(places.lock, patience))
        connection = entering.enter_context(database.reading(places.database, lent))
        stack.push(entering.pop_all())
    return connection


def _heal(places: Places) -> None:
    """A write-ahead log outside a fold is what a crash left behind. Only a writer can replay it or set it aside; on a
    disk that is full or read-only it is read where it lies."""
    if database.wal(places.database).exists():
        with suppress(OSError), held(places.lock, PATIENCE):
            if database.wal(places.database).exists():
                database.heal(places.database)
