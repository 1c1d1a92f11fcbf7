"""``sessions.duckdb`` written anew without what was deleted: built aside while readers go on, and moved into place in
one step, so that at any moment there is the old file or the new one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.world.store import database
from hermes_kernel.world.store.fold import fold
from hermes_kernel.world.store.journal import journals, read
from hermes_kernel.world.store.locks import Busy, held, shared
from hermes_kernel.world.store.places import PRIVATE_FILE, Places, StoreError, explaining, make, sync_folder
from hermes_kernel.world.store.reading import Home
from hermes_kernel.world.store.retention.deletion import PATIENCE
from hermes_kernel.world.store.retention.forgetting import forget
from hermes_kernel.world.store.retention.retired import retired

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MARGIN = 64 * 2**20  # bytes of room beside the file's own size

TABLES_OF = "SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY table_name"


@dataclass(frozen=True, slots=True)
class Compacted:
    """Bytes of the store before and after. ``living`` are journals that hold lines of deleted sessions as long as their
    writers live, ``aside`` is what was set aside as damaged or as a backup and may hold some, too."""

    before: int
    after: int
    living: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def compact(home: Home, *, damaged: bool = False, free: Callable[[Path], int] = _free) -> Compacted:
    """Fold what can be folded, then write the database anew; with ``damaged``, remove what was set aside: as damaged,
    or as a backup before the format changed.
    ``free`` says how many bytes the disk with a folder still takes.

    Raises:
        StoreError: others are at it, the disk lacks room for a second copy, or the database cannot be read. Everything
            is as it was.
    """
    with explaining(home.places):
        before = _size(home.places)
        folded = fold(home.places, home.shared, PATIENCE)
        if folded.waiting:
            raise StoreError(f"nothing was compacted: {folded.waiting}")
        try:
            if home.places.database.exists():
                with held(home.places.lock.with_name("compacting"), 0.0):
                    _compact(home, free)
        except Busy:
            raise StoreError("another process uses the database: try again") from None
        for path in _aside(home.places) if damaged else ():
            path.unlink(missing_ok=True)
        aside = tuple(path.name for path in _aside(home.places))
        return Compacted(before, _size(home.places), tuple(_living(home.places)), aside)


def _compact(home: Home, free: Callable[[Path], int]) -> None:
    """Readers go on while the new file is built. A fold that comes between costs a second try, in which nobody else
    gets the lock."""
    lock, path = home.places.lock, home.places.database.resolve()  # where a link leads, the deleted are
    fresh = path.parent / "store" / "compacting.duckdb"  # a folder that nobody else may read
    make(fresh.parent)
    with held(lock, PATIENCE), database.writing(path) as connection:
        forget(connection, home.places)
    _check_room(path, free(path.parent))
    try:
        with shared(lock, PATIENCE):
            seen = _look(path)
            _build(path, fresh)
        with held(lock, PATIENCE):
            if _look(path) != seen:
                _build(path, fresh)
            fresh.rename(path)
            sync_folder(path.parent)
    finally:
        fresh.unlink(missing_ok=True)


def _look(path: Path) -> tuple[int, int, int]:
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def _check_room(path: Path, free: int) -> None:
    needed = path.stat().st_size + MARGIN
    if free < needed:
        raise StoreError(
            f"{path.parent} has {free:,} bytes free and compacting needs {needed:,}: free some space and run this again"
        )


def _build(path: Path, fresh: Path) -> None:
    """What is in the database in another file, on disk when this returns."""
    fresh.unlink(missing_ok=True)
    with database.reading(path) as connection:
        _copy(connection, path, fresh)
    fresh.chmod(PRIVATE_FILE)
    _sync(fresh)


def _copy(connection: DuckDBPyConnection, path: Path, fresh: Path) -> None:
    """Every table in the order in which it lies, counted."""
    database.begin(connection, fresh, "fresh")
    for (table,) in connection.execute(TABLES_OF, ["fresh"]).fetchall():
        connection.execute(f"DELETE FROM fresh.{table}")  # noqa: S608 - the names are ours
        connection.execute(f"INSERT INTO fresh.{table} SELECT * FROM store.{table}")  # noqa: S608
        old, new = (_count(connection, f"{name}.{table}") for name in ("store", "fresh"))
        if old != new:
            raise StoreError(f"{path} was not compacted: of {old:,} rows of {table}, {new:,} were copied")
    connection.execute("CHECKPOINT fresh")
    connection.execute("DETACH fresh")


def _count(connection: DuckDBPyConnection, table: str) -> int:
    ((count,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()  # noqa: S608
    return int(count)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _aside(places: Places) -> list[Path]:
    """What was set aside: journals, write-ahead logs of the database, databases of an older format."""
    beside, name = places.database.parent, places.database.name
    logs, backups = beside.glob(f"{name}.wal.damaged-*"), beside.glob(f"{name}.format-*.bak")
    return sorted([*places.journals.glob("*.damaged"), *logs, *backups])


def _living(places: Places) -> Iterator[str]:
    deleted = retired(places).deleted
    for path in journals(places.journals) if deleted else ():
        if any(record.session in deleted for record in read(path).records):
            yield path.name


def _size(places: Places) -> int:
    """Bytes of the database, the journals and what was set aside."""
    kept = [places.database, database.wal(places.database), *journals(places.journals), *_aside(places)]
    return sum(path.stat().st_size for path in kept if path.exists())
