"""``sessions.duckdb``: attached for as long as a question or a fold takes, and never longer. DuckDB is imported here.

A write-ahead log that a crash left damaged is set aside: the file stands at its last checkpoint, its offsets with it,
and the journals hold everything behind them. Callers hold the store's lock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.world.store.places import PRIVATE_FILE, StoreError, make
from hermes_kernel.world.store.records import Record, dense
from hermes_kernel.world.store.views import FORMAT, TABLES, VIEWS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STORAGE = "v1.5.0"  # the newest file format that DuckDB 1.5 and 2.x both read and write
CONFIG = {
    "threads": "2",
    "memory_limit": "1GB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}

INCOMING = """
CREATE OR REPLACE TEMP TABLE incoming (uid VARCHAR, session VARCHAR, n BIGINT, t DOUBLE, kind VARCHAR, body JSON)
"""
EVERYTHING = """
CREATE TEMP VIEW everything AS SELECT * EXCLUDE (number) FROM store.facts UNION ALL SELECT * FROM incoming
"""
UNFOLDED = "CREATE TEMP VIEW everything AS SELECT * FROM incoming"


class HeldOpen(StoreError):
    """Another program has the database open for writing."""


def connect() -> DuckDBPyConnection:
    """A DuckDB of our own with nothing in it yet. It never loads an extension and never asks the network."""
    import duckdb

    return duckdb.connect(config=dict(CONFIG))


@contextmanager
def writing(path: Path, lent: DuckDBPyConnection | None = None) -> Iterator[DuckDBPyConnection]:
    """A connection, `lent` or new, with the database attached as ``store``, made if there is none, checkpointed at the
    end.

    Raises:
        HeldOpen: another program has it open.
        StoreError: it is of a newer format, or damaged.
    """
    if not path.exists():
        _create(path)
    with _explaining(path), _own(lent) as connection:
        if not _attached(connection, path, ""):
            _set_wal_aside(path)
            _attached(connection, path, "", healed=True)
        _check_format(connection, path)
        yield connection
        connection.execute("CHECKPOINT store")
        connection.execute("DETACH store")


def heal(path: Path) -> None:
    """Replay a write-ahead log that was left behind, or set it aside.

    Raises:
        StoreError: as `writing`.
    """
    with writing(path):
        pass


@contextmanager
def reading(path: Path, lent: DuckDBPyConnection | None = None) -> Iterator[DuckDBPyConnection]:
    """A connection, `lent` or new, with the database attached as ``store``, read-only.

    Raises:
        HeldOpen: another program has it open for writing.
        StoreError: it is of a newer format, or damaged.
    """
    with _explaining(path), _own(lent) as connection:
        _attached(connection, path, "READ_ONLY", healed=True)
        _check_format(connection, path)
        yield connection
        connection.execute("DETACH store")


@contextmanager
def _own(lent: DuckDBPyConnection | None) -> Iterator[DuckDBPyConnection]:
    """A connection that is closed at the end, or one that only lets go of the file whatever happens."""
    if lent is None:
        with closing(connect()) as connection:
            yield connection
        return
    try:
        yield lent
    finally:
        _let_go(lent)


def _let_go(connection: DuckDBPyConnection) -> None:
    """Nothing stays attached, and no transaction open, after an error."""
    import duckdb

    with suppress(duckdb.Error):
        connection.execute("ROLLBACK")
    connection.execute("DETACH DATABASE IF EXISTS store")


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """DuckDB's errors as ours. Closing the connection lets go of the file whatever happened."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise StoreError(f"{path}: {' '.join(str(error).split())[:200]}") from error


def begin(connection: DuckDBPyConnection, path: Path, name: str) -> None:
    """Attach a new file as `name`, with the schema in it and nothing else."""
    connection.execute(f"ATTACH {_literal(path)} AS {name} (STORAGE_VERSION '{STORAGE}')")
    connection.execute(f"USE {name}")
    connection.execute(TABLES)
    connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
    connection.execute(VIEWS)
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
    bring(connection, unfolded)
    connection.execute(EVERYTHING if stored else UNFOLDED)


def of_session(connection: DuckDBPyConnection, session_id: str) -> list[Record]:
    """The folded records of one session, in no order."""
    rows = connection.execute(
        "SELECT uid, session, n, t, kind, body FROM store.facts WHERE session = ?", [session_id]
    ).fetchall()
    return [Record(uid, session, n, t, {"fact": kind, **json.loads(body)}) for uid, session, n, t, kind, body in rows]


def offsets(connection: DuckDBPyConnection) -> dict[str, int]:
    """How far each journal has been folded, in bytes."""
    return dict(connection.execute("SELECT name, folded FROM store.journals").fetchall())


def wal(path: Path) -> Path:
    """DuckDB's write-ahead log of the database at `path`."""
    return path.with_name(path.name + ".wal")


def _create(path: Path) -> None:
    """Made out of sight and moved into place: nobody ever meets half a schema, or one that others may read."""
    fresh = path.parent / "store" / "fresh.duckdb"
    make(fresh.parent)
    fresh.unlink(missing_ok=True)
    wal(fresh).unlink(missing_ok=True)
    with closing(connect()) as connection, _explaining(path):
        begin(connection, fresh, "store")
        connection.execute("CHECKPOINT store")
        connection.execute("DETACH store")
    fresh.chmod(PRIVATE_FILE)
    fresh.rename(path)


def _attached(connection: DuckDBPyConnection, path: Path, option: str, *, healed: bool = False) -> bool:
    """Whether the database is attached now; False when its write-ahead log is damaged and not yet `healed`."""
    import duckdb

    try:
        connection.execute(f"ATTACH {_literal(path)} AS store {f'({option})' if option else ''}")
    except duckdb.Error as error:
        said = " ".join(str(error).split())
        if "WAL" in said and not healed and wal(path).exists():
            return False
        if "already attached" in said:
            raise HeldOpen(
                f"{path} is open in this very process: close that connection to fold and search it"
            ) from None
        if "set lock" in said:
            raise HeldOpen(f"{path} is held open by {_holder(said)}: close it there to fold and search it") from None
        raise StoreError(f"cannot open {path}: {said[:200]}") from error
    return True


def _set_wal_aside(path: Path) -> None:
    """Rename, never remove: it is evidence."""
    log, number = wal(path), 1
    while (aside := log.with_name(f"{log.name}.damaged-{number}")).exists():
        number += 1
    log.rename(aside)


def _check_format(connection: DuckDBPyConnection, path: Path) -> None:
    rows = connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE database_name = 'store' AND table_name = 'format'"
    ).fetchall()
    if not rows:
        raise StoreError(f"{path} is a DuckDB database, but not one of Hermes Kernel: move it away to start afresh")
    (version,) = connection.execute("SELECT max(version) FROM store.format").fetchall()[0]
    if version != FORMAT:
        raise StoreError(
            f"{path} has format {version} and this Hermes Kernel reads {FORMAT}: run `pip install -U hermes-kernel`"
        )


def _holder(said: str) -> str:
    found = re.search(r"PID (\d+)", said)
    return f"process {found[1]}" if found else "another program"


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
