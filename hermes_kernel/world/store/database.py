"""``sessions.duckdb``: attached for as long as a question or a fold takes, and never longer.

A write-ahead log that a crash left damaged is set aside: the file stands at its last checkpoint, its offsets with it,
and the journals hold everything behind them. Callers hold the store's lock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.world.store import migrations
from hermes_kernel.world.store.engine import (
    GROUPS,
    STORAGE,
    HeldOpen,
    attach,
    attach_to_read,
    connect,
    detach,
    explaining,
    literal,
    own,
    wal,
)
from hermes_kernel.world.store.places import PRIVATE_FILE, StoreError, make
from hermes_kernel.world.store.records import Record, dense
from hermes_kernel.world.store.views import FORMAT, TABLES
from hermes_kernel.world.store.views_beside import EDITION, EDITION_OF, STORED_VIEWS, edition

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = [
    "HeldOpen",
    "Older",
    "begin",
    "bring",
    "connect",
    "explaining",
    "facts_in",
    "heal",
    "of_session",
    "offsets",
    "reading",
    "union",
    "wal",
    "writing",
]

INCOMING = """
CREATE OR REPLACE TEMP TABLE incoming (uid VARCHAR, session VARCHAR, n BIGINT, t DOUBLE, kind VARCHAR, body JSON)
"""
EVERYTHING = """
CREATE TEMP VIEW everything AS SELECT * EXCLUDE (number) FROM store.facts UNION ALL SELECT * FROM incoming
"""
ONLY_NEW = """
DELETE FROM incoming WHERE uid IN (SELECT uid FROM store.facts WHERE session IN (SELECT session FROM incoming))
"""
OF_ALL = "SELECT uid, session, n, t, kind, body FROM store.facts"
OF_SESSION = OF_ALL + " WHERE session = ?"
# Those that are indexed lie among certain numbers, the others behind all of these.
OF_INDEXED = OF_SESSION + " AND number BETWEEN ? AND ? UNION ALL " + OF_SESSION + " AND number >= ?"
SPAN = """
SELECT coalesce(min(first_number), 0), coalesce(max(last_number), -1), (SELECT facts FROM store.indexed)
FROM store.threads WHERE session IN (SELECT unnest(?::VARCHAR[]))
"""
UNFOLDED = "CREATE TEMP VIEW everything AS SELECT * FROM incoming"


class Older(StoreError):
    """The database has an older format, and no reader can change that."""


@contextmanager
def writing(path: Path, lent: DuckDBPyConnection | None = None) -> Iterator[DuckDBPyConnection]:
    """A connection, `lent` or new, with the database attached as ``store``, made if there is none, checkpointed at the
    end. One of an older format is brought to that of today first, and its views to those of today.

    Raises:
        HeldOpen: another program has it open.
        StoreError: it is of a newer format, or damaged.
    """
    if not path.exists():
        _create(path)
    with explaining(path), own(lent) as connection:
        attach(connection, path)
        if (version := migrations.format_of(connection, path)) != FORMAT:
            _renew(connection, path, version)
            attach(connection, path)
        _renew_views(connection)
        yield connection
        detach(connection, path)


def heal(path: Path) -> None:
    """Replay a write-ahead log that was left behind, or set it aside; bring an older format to that of today.

    Raises:
        StoreError: as `writing`.
    """
    with writing(path):
        pass


@contextmanager
def reading(path: Path, lent: DuckDBPyConnection | None = None) -> Iterator[DuckDBPyConnection]:
    """A connection, `lent` or new, with the database attached as ``store``, read-only.

    Raises:
        Older: it is of an older format, and takes a writer's care.
        HeldOpen: another program has it open for writing.
        StoreError: it is of a newer format, or damaged.
    """
    with explaining(path), own(lent) as connection:
        attach_to_read(connection, path)
        if (version := migrations.format_of(connection, path)) != FORMAT:
            raise Older(f"{path} has format {version}, which the next fold brings to {FORMAT}: try again")
        yield connection
        connection.execute("DETACH store")


def begin(connection: DuckDBPyConnection, path: Path, name: str) -> None:
    """Attach a new file as `name`, with the schema in it and nothing else. It has no write-ahead log: until it is
    checkpointed and moved to where it belongs, it is worth nothing."""
    options = f"STORAGE_VERSION '{STORAGE}', {GROUPS}, RECOVERY_MODE 'no_wal_writes'"
    connection.execute(f"ATTACH {literal(path)} AS {name} ({options})")
    connection.execute(f"USE {name}")
    connection.execute(TABLES)
    connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
    connection.execute(STORED_VIEWS)
    connection.execute("USE memory")


def bring(connection: DuckDBPyConnection, records: Sequence[Record]) -> None:
    """Have the temporary table ``incoming``, which is shaped like ``facts``, hold just these records."""
    connection.execute(INCOMING)
    columns: list[list[Any]] = [
        [record.uid for record in records],
        [record.session for record in records],
        [record.n for record in records],
        [record.t for record in records],
        [record.fact.get("fact", "") for record in records],
        [dense({name: value for name, value in record.fact.items() if name != "fact"}) for record in records],
    ]
    connection.execute(
        "INSERT INTO incoming SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)", columns
    )


def union(connection: DuckDBPyConnection, unfolded: Sequence[Record], *, stored: bool) -> None:
    """Have ``everything`` mean the facts in the database, if it is attached, and those not folded yet."""
    bring(connection, tuple({record.uid: record for record in unfolded}.values()))
    if stored:
        connection.execute(ONLY_NEW)
    connection.execute(EVERYTHING if stored else UNFOLDED)


def of_session(connection: DuckDBPyConnection, session_id: str) -> list[Record]:
    """The folded records of one session, in no order."""
    low, high, indexed = span(connection, [session_id])
    return _records(connection.execute(OF_INDEXED, [session_id, low, high, session_id, indexed]).fetchall())


def span(connection: DuckDBPyConnection, sessions: Sequence[str]) -> tuple[int, int, int]:
    """Between which numbers the indexed facts of some sessions are, and from which number on facts are not indexed."""
    (found,) = connection.execute(SPAN, [list(sessions)]).fetchall()
    return found


def facts_in(connection: DuckDBPyConnection, session_id: str | None) -> list[Record]:
    """The records in a database of any format, of one session or of all, in no order."""
    asked, given = (OF_ALL, []) if session_id is None else (OF_SESSION, [session_id])
    return _records(connection.execute(asked, given).fetchall())


def _records(rows: list[tuple[Any, ...]]) -> list[Record]:
    return [Record(uid, session, n, t, {"fact": kind, **json.loads(body)}) for uid, session, n, t, kind, body in rows]


def offsets(connection: DuckDBPyConnection) -> dict[str, int]:
    """How far each journal has been folded, in bytes."""
    return dict(connection.execute("SELECT name, folded FROM store.journals").fetchall())


def _renew(connection: DuckDBPyConnection, path: Path, version: int) -> None:
    """Bring what is attached as ``store`` to the format of today. Nothing is attached afterwards."""
    if version != migrations.EMPTY:
        migrations.migrate(connection, path, version)
        return
    detach(connection, path)
    _create(path)


def _renew_views(connection: DuckDBPyConnection) -> None:
    """Other programs find the views of today, or those of a later version of this program."""
    if edition(connection.execute(EDITION_OF).fetchall()) < EDITION:
        connection.execute("USE store")
        connection.execute(STORED_VIEWS)
        connection.execute("USE memory")


def _create(path: Path) -> None:
    """Made out of sight and moved into place: nobody ever meets half a schema, or one that others may read."""
    fresh = path.parent / "store" / "fresh.duckdb"
    make(fresh.parent)
    fresh.unlink(missing_ok=True)
    with closing(connect()) as connection, explaining(path):
        begin(connection, fresh, "store")
        connection.execute("CHECKPOINT store")
        connection.execute("DETACH store")
    fresh.chmod(PRIVATE_FILE)
    fresh.rename(path)
