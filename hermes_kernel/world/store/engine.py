"""DuckDB, imported when it is first needed: a file attached as ``store`` and let go of, and its errors as ours."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.world.store.disk import FULL, PRIVATE_FILE, StoreError, full

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STORAGE = "v1.5.0"  # the newest file format that DuckDB 1.5 and 2.x both read and write
GROUPS = "ROW_GROUP_SIZE 61440"
"""Rows that are written, passed over and compressed together. Half of the default: a fold that adds one row may have
to write a group anew, and who looks a word up reads those groups in which it stands."""
CONFIG = {
    "threads": "2",
    "memory_limit": "1GB",
    "wal_autocheckpoint": "1GB",  # a checkpoint before the end would have DuckDB begin another log, in its own way
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",  # the default is in the working folder, for everybody to read, and SQL may write there
}

_spills = itertools.count(1)


class HeldOpen(StoreError):
    """Another program has the database open."""


def connect() -> DuckDBPyConnection:
    """A DuckDB of our own with nothing in it yet. It never loads an extension and never asks the network."""
    import duckdb

    connection = duckdb.connect(config=dict(CONFIG))
    _draw_nothing(connection)
    return connection


def _draw_nothing(connection: DuckDBPyConnection) -> None:
    """No bar in cells: a kernel is taken for a terminal. Where there are no widgets it is an error to speak of it."""
    import duckdb

    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")


def attach(connection: DuckDBPyConnection, path: Path) -> None:
    """Attach the database to be written. A damaged write-ahead log is set aside first: what it held is in journals.

    Raises:
        HeldOpen: another program has it open.
        StoreError: it is damaged.
    """
    if not _attached(connection, path, GROUPS, healed=False):
        _set_wal_aside(path)
        _attached(connection, path, GROUPS, healed=True)
    # DuckDB would make its log readable for everybody who may read the home.
    os.close(os.open(wal(path), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))


def detach(connection: DuckDBPyConnection, path: Path) -> None:
    """Have everything in the file itself, and let go of it."""
    connection.execute("CHECKPOINT store")
    connection.execute("DETACH store")
    with suppress(FileNotFoundError):
        if wal(path).stat().st_size == 0:
            wal(path).unlink()


def attach_to_read(connection: DuckDBPyConnection, path: Path) -> None:
    """Attach the database read-only.

    Raises:
        HeldOpen: another program has it open for writing.
        StoreError: it is damaged.
    """
    _attached(connection, path, "READ_ONLY", healed=True)


@contextmanager
def own(lent: DuckDBPyConnection | None) -> Iterator[DuckDBPyConnection]:
    """A connection that is closed at the end, or one that only lets go of the file whatever happens."""
    if lent is None:
        with closing(connect()) as connection:
            yield connection
        return
    try:
        yield lent
    finally:
        _let_go(lent)


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """DuckDB's errors as ours. Closing the connection lets go of the file whatever happened."""
    import duckdb

    try:
        yield
    except RuntimeError as error:
        if "Query interrupted" in str(error):  # DuckDB has put this in the place of what the signal raised
            raise KeyboardInterrupt from None
        raise
    except duckdb.Error as error:
        said = " ".join(str(error).split())
        if any(os.strerror(number) in said for number in FULL):
            raise StoreError(full(path.parent)) from error
        raise StoreError(f"{path}: {said[:200]}") from error


def wal(path: Path) -> Path:
    """DuckDB's write-ahead log of the database at `path`."""
    return path.with_name(path.name + ".wal")


def literal(path: Path) -> str:
    """A path as SQL writes a text."""
    return "'" + str(path).replace("'", "''") + "'"


def _let_go(connection: DuckDBPyConnection) -> None:
    """Nothing stays attached, and no transaction open, after an error."""
    import duckdb

    with suppress(duckdb.Error):
        connection.execute("ROLLBACK")
    connection.execute("DETACH DATABASE IF EXISTS store")


def _attached(connection: DuckDBPyConnection, path: Path, option: str, *, healed: bool) -> bool:
    """Whether the database is attached now; False when its write-ahead log is damaged and not yet `healed`."""
    import duckdb

    _spill_beside(connection, path)
    try:
        connection.execute(f"ATTACH {literal(path)} AS store {f'({option})' if option else ''}")
    except duckdb.Error as error:
        said = " ".join(str(error).split())
        if "WAL" in said and not healed and wal(path).exists():
            return False
        if "already attached" in said:
            raise HeldOpen(
                f"{path} is open in this very process: close that connection to fold and search it, and read with "
                "Store.connect(), which keeps nobody out"
            ) from None
        if "set lock" in said:
            raise HeldOpen(
                f"{path} is held open by {_holder(said)}: close it there to fold and search it, and read with "
                "`hermes-kernel sql` or Store.connect(), which keep nobody out"
            ) from None
        raise StoreError(f"cannot open {path}: {said[:200]}") from error
    return True


def _spill_beside(connection: DuckDBPyConnection, path: Path) -> None:
    """What does not fit into memory goes to a folder that nobody else may read. Each connection has its own: DuckDB 1.5
    does not tell the files of two apart. It makes the folder when it needs it, and removes it."""
    if connection.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]:
        folder = path.parent.resolve() / "store" / f"spilled-{os.getpid()}-{next(_spills)}"
        connection.execute(f"SET temp_directory = {literal(folder)}")


def _set_wal_aside(path: Path) -> None:
    """Rename, never remove: it is evidence."""
    log, number = wal(path), 1
    while (aside := log.with_name(f"{log.name}.damaged-{number}")).exists():
        number += 1
    log.rename(aside)


def _holder(said: str) -> str:
    found = re.search(r"PID (\d+)", said)
    return f"process {found[1]}" if found else "another program"
