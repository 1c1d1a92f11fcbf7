"""Has the database hold nothing of the sessions that ``retired.json`` calls deleted. That file is written first, so
what a crash leaves undone here is done by whoever folds next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.world.store.index import building
from hermes_kernel.world.store.places import Places
from hermes_kernel.world.store.retention.retired import retire_sessions, retired

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KNOWN = "SELECT session FROM store.deleted"


def forget(connection: DuckDBPyConnection, places: Places) -> None:
    """Delete what is due, in one transaction. Where nothing is, that costs a look at a small file and a small table.
    The caller holds the store's lock and has the database attached for writing.

    What the file has lost, be it damaged or written by two computers at once, the database gives back to it.
    """
    due = retired(places).deleted
    known = {session for (session,) in connection.execute(KNOWN).fetchall()}
    if known - due:
        retire_sessions(places, frozenset(known))
    if gone := sorted(due - known):
        _forget(connection, gone, places.retired.stat().st_mtime)


def _forget(connection: DuckDBPyConnection, sessions: list[str], t: float) -> None:
    connection.execute("BEGIN")
    connection.execute("DELETE FROM store.facts WHERE session IN (SELECT unnest(?))", [sessions])
    building.forget(connection, sessions)
    connection.execute("INSERT INTO store.deleted SELECT unnest(?), ?", [sessions, t])
    connection.execute("COMMIT")
