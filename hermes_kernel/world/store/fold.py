"""Folding: what the sources hold goes into the database, facts and offsets in one transaction, by whoever comes by.

A journal is removed once its writer is gone, all of it is folded and shipped, and the database is checkpointed. No
append waits for any of it.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.world.store import database
from hermes_kernel.world.store.earlier import at_home
from hermes_kernel.world.store.index import building, postings
from hermes_kernel.world.store.index.postings import NEVER, SHAPE, Shape
from hermes_kernel.world.store.journal import abandoned, journals, read
from hermes_kernel.world.store.locks import Busy, held
from hermes_kernel.world.store.locks import shared as shared_lock
from hermes_kernel.world.store.places import Places, sync_folder
from hermes_kernel.world.store.retention.forgetting import forget
from hermes_kernel.world.store.retention.retired import retire, retire_sessions, retired
from hermes_kernel.world.store.shared import shipping
from hermes_kernel.world.store.sources import Behind, Shared

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PAUSE = 0.01  # seconds between two steps; readers look every 2 ms
PATIENCE = 0.5  # seconds for the lock; the next fold takes what this one had to leave

# Two lines with one uid can only be of one session, so only facts of the same sessions are looked at, where they are.
INSERT = """
INSERT INTO store.facts
SELECT uid, any_value(session), any_value(n), any_value(t), any_value(kind), any_value(body),
       (SELECT greatest(coalesce(max(number), -1), (SELECT facts - 1 FROM store.indexed)) FROM store.facts)
           + row_number() OVER (ORDER BY any_value(session), any_value(n))
FROM incoming
WHERE uid NOT IN (SELECT uid FROM store.facts
                  WHERE number BETWEEN ? AND ? AND session IN (SELECT session FROM incoming)
                  UNION ALL SELECT uid FROM store.facts WHERE number >= ?)
  AND session NOT IN (SELECT session FROM store.deleted)
GROUP BY uid
ORDER BY 2, 3
"""


@dataclass(frozen=True, slots=True)
class Folded:
    """What a fold did: facts added, damaged journal lines passed over, journals removed. ``waiting`` says in one line
    why some of it was put off, or nothing."""

    facts: int = 0
    damaged: int = 0
    removed: int = 0
    waiting: str = ""


def fold(places: Places, shared: Shared | None = None, patience: float = PATIENCE, shape: Shape = SHAPE) -> Folded:
    """Fold every journal of the home, and what others have put in the `shared` store. Put off, not failed, while
    somebody else folds or holds the database open, or while the shared store is away.

    Raises:
        StoreError: the database is damaged or of a newer format.
        OSError: the disk is full or read-only.
    """
    owed = shipping.ship(places, shared)
    try:
        done = _fold_journals(places, patience) if journals(places.journals) else Folded()
        more = _fold_shared(places, shared, patience) if shared and not owed else 0
        if places.database.exists():
            settle(places, shape, patience)
    except Busy:
        return Folded(waiting="another process is folding")
    except database.HeldOpen as error:
        return Folded(waiting=str(error))
    return replace(done, facts=done.facts + more, waiting=owed)


def _fold_journals(places: Places, patience: float) -> Folded:
    with held(places.lock, patience):
        left = abandoned(places)
        added = damaged = 0
        with database.writing(places.database) as connection:
            forget(connection, places)
            done = database.offsets(connection)
            for behind in (each for source in at_home(places) for each in source.behind(done)):
                damaged += behind.damaged
                added += take(connection, behind) if behind.end > done.get(behind.name, 0) else 0
            _forget_offsets(connection, places)
        if database.wal(places.database).exists():
            return Folded(added, damaged)
        left = [path for path in left if not shipping.is_owed(places, path)]
        for path in left:
            _remove(places, path)
        return Folded(added, damaged, len(left))


def _fold_shared(places: Places, shared: Shared, patience: float) -> int:
    """The server is asked while nobody has to wait for the lock. What two folds bring twice adds nothing."""
    done: dict[str, int] = {}
    if places.database.exists():
        with held(places.lock, patience), database.writing(places.database) as connection:
            done = database.offsets(connection)
    added = 0
    for behind in shared.behind(done):
        with held(places.lock, patience), database.writing(places.database) as connection:
            added += take(connection, behind)
    if gone := shared.deleted() - retired(places).deleted:
        with held(places.lock, patience), database.writing(places.database) as connection:
            retire_sessions(places, gone)
            forget(connection, places)
    return added


def settle(places: Places, shape: Shape = SHAPE, patience: float = PATIENCE) -> None:
    """Index what is not indexed yet and merge what is ripe, in steps short enough for readers to come between.

    Raises:
        Busy: others use the database and go on using it.
    """
    with closing(database.connect()) as connection:
        left, runs = building.PORTION, tuple[int, ...]()
        while left == building.PORTION:
            time.sleep(PAUSE)
            with held(places.lock, patience), database.writing(places.database, connection):
                left = building.catch_up(connection, shape=shape)
                runs = postings.due(connection, shape)
        while runs:
            runs = _merged(places, connection, runs, shape)


def _merged(places: Places, connection: DuckDBPyConnection, runs: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """Those to merge next. Should a passage have been taken back while these were read, they are left to the next."""
    with shared_lock(places.lock, PATIENCE), database.reading(places.database, connection):
        read = postings.gather(connection, runs, shape)
    time.sleep(PAUSE)
    with held(places.lock, PATIENCE), database.writing(places.database, connection):
        if postings.extent(connection, runs) != read._replace(common=NEVER):
            return ()
        connection.execute("BEGIN")
        postings.merge(connection, runs, read)
        connection.execute("COMMIT")
        return postings.due(connection, shape)


def take(connection: DuckDBPyConnection, behind: Behind) -> int:
    """Facts and offset, both or neither. An offset never goes back."""
    database.bring(connection, behind.records)
    connection.execute("BEGIN")
    where = database.span(connection, sorted({record.session for record in behind.records}))
    ((added,),) = connection.execute(INSERT, where).fetchall()
    known = database.offsets(connection).get(behind.name, 0)
    connection.execute("DELETE FROM store.journals WHERE name = ?", [behind.name])
    connection.execute("INSERT INTO store.journals VALUES (?, ?)", [behind.name, max(known, behind.end)])
    connection.execute("COMMIT")
    return int(added)


def _forget_offsets(connection: DuckDBPyConnection, places: Places) -> None:
    """Of journals that are gone."""
    present = {path.name for path in journals(places.journals)}
    for name in database.offsets(connection):
        if name.endswith(".jsonl") and name not in present:
            connection.execute("DELETE FROM store.journals WHERE name = ?", [name])


def _remove(places: Places, path: Path) -> None:
    """Only after a checkpoint. What readers must know is on disk first; a journal with damage is kept aside."""
    whole = read(path)
    retire(places, max((record.t for record in whole.records), default=float("-inf")))
    if whole.damaged:
        path.rename(path.with_suffix(".damaged"))
    else:
        path.unlink()
    sync_folder(places.journals)
