"""Folding: what the journals hold goes into the database, facts and offsets in one transaction, by whoever comes by.

A journal is removed once its writer is gone, all of it is folded, and the database is checkpointed. No append waits
for any of it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.world.store import database
from hermes_kernel.world.store.journal import Tail, alive, journals, read
from hermes_kernel.world.store.locks import Busy, held
from hermes_kernel.world.store.places import PRIVATE_FILE, Places, sync_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PATIENCE = 0.5  # seconds for the lock; the next fold takes what this one had to leave

# Two lines with one uid can only come from one journal, so only facts of the same sessions are looked at.
INSERT = """
INSERT INTO store.facts
SELECT uid, any_value(session), any_value(n), any_value(t), any_value(kind), any_value(body) FROM incoming
WHERE uid NOT IN (SELECT uid FROM store.facts WHERE session IN (SELECT session FROM incoming))
GROUP BY uid
ORDER BY 2, 3
"""


@dataclass(frozen=True, slots=True)
class Folded:
    """What a fold did: facts added, damaged journal lines passed over, journals removed. ``waiting`` says in one line
    why it was put off, or nothing."""

    facts: int = 0
    damaged: int = 0
    removed: int = 0
    waiting: str = ""


def fold(places: Places, patience: float = PATIENCE) -> Folded:
    """Fold every journal of the home. Put off, not failed, while somebody else folds or holds the database open.

    Raises:
        StoreError: the database is damaged or of a newer format.
        OSError: the disk is full or read-only.
    """
    if not journals(places.journals):
        return Folded()
    try:
        with held(places.lock, patience):
            return _fold(places)
    except Busy:
        return Folded(waiting="another process is folding")
    except database.HeldOpen as error:
        return Folded(waiting=str(error))


def retired(places: Places) -> float:
    """Facts of up to this time may be in the database alone. A session that began later is in the journals whole."""
    try:
        return float(json.loads(places.retired.read_text())["until"])
    except FileNotFoundError:
        return float("-inf")
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _fold(places: Places) -> Folded:
    added = damaged = 0
    with database.writing(places.database) as connection:
        done = database.offsets(connection)
        present = journals(places.journals)
        left = [path for path in present if not alive(path)]
        for path in present:
            tail = read(path, start := done.get(path.name, 0))
            damaged += tail.damaged
            if tail.end > start:
                added += _take(connection, path, tail)
        _forget_offsets(connection, set(done) - {path.name for path in present})
    if database.wal(places.database).exists():
        return Folded(added, damaged)
    for path in left:
        _remove(places, path)
    return Folded(added, damaged, len(left))


def _take(connection: DuckDBPyConnection, path: Path, tail: Tail) -> int:
    """Facts and offset, both or neither."""
    database.bring(connection, tail.records)
    connection.execute("BEGIN")
    ((added,),) = connection.execute(INSERT).fetchall()
    connection.execute("DELETE FROM store.journals WHERE name = ?", [path.name])
    connection.execute("INSERT INTO store.journals VALUES (?, ?)", [path.name, tail.end])
    connection.execute("COMMIT")
    return int(added)


def _forget_offsets(connection: DuckDBPyConnection, gone: set[str]) -> None:
    for name in gone:
        connection.execute("DELETE FROM store.journals WHERE name = ?", [name])


def _remove(places: Places, path: Path) -> None:
    """Only after a checkpoint. What readers must know is on disk first; a journal with damage is kept aside."""
    whole = read(path)
    _retire(places, max((record.t for record in whole.records), default=float("-inf")))
    if whole.damaged:
        path.rename(path.with_suffix(".damaged"))
    else:
        path.unlink()
    sync_folder(places.journals)


def _retire(places: Places, until: float) -> None:
    if until <= retired(places):
        return
    fresh = places.retired.with_suffix(".new")
    handle = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        os.write(handle, json.dumps({"until": until}).encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    fresh.rename(places.retired)
    sync_folder(places.root)
