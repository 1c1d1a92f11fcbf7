"""An older database becomes one of the format of today: built beside it from its facts, and put in its place in one go.

Whatever happens on the way, the file is the old one or the new one. The old one stays beside it as a backup. Callers
hold the store's lock.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.world.store.disk import PRIVATE_FILE, StoreError, make, sync_folder
from hermes_kernel.world.store.engine import GROUPS, STORAGE, detach, literal, wal
from hermes_kernel.world.store.views import FORMAT, TABLES
from hermes_kernel.world.store.views_beside import STORED_VIEWS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

HAS_FORMAT = "SELECT 1 FROM duckdb_tables() WHERE database_name = 'store' AND table_name = 'format'"

HAS_ANYTHING = """
SELECT 1 FROM duckdb_tables() WHERE database_name = 'store' UNION ALL
SELECT 1 FROM duckdb_views() WHERE database_name = 'store' AND NOT internal UNION ALL
SELECT 1 FROM duckdb_sequences() WHERE database_name = 'store'
"""
EMPTY = 0
"""The format of what a person made who opened the database before there was one: DuckDB makes a file."""

# Everything else is made from these. A format-1 database was never deleted from, so its rows have the numbers that
# they were folded in.
FROM_1 = """
INSERT INTO fresh.facts SELECT uid, session, n, t, kind, body, row_number() OVER () - 1 FROM store.facts;
INSERT INTO fresh.journals SELECT name, folded FROM store.journals;
"""
STEPS = {1: FROM_1}
"""By older format: what brings its facts into the schema of today."""


def format_of(connection: DuckDBPyConnection, path: Path) -> int:
    """The format of the database that is attached as ``store``, `EMPTY` where there is nothing in it.

    Raises:
        StoreError: it is not one of ours, or of a newer format.
    """
    if not connection.execute(HAS_FORMAT).fetchall():
        if not connection.execute(HAS_ANYTHING).fetchall():
            return EMPTY
        raise StoreError(f"{path} is a DuckDB database, but not one of Hermes Kernel: move it away to start afresh")
    ((version,),) = connection.execute("SELECT max(version) FROM store.format").fetchall()
    if version not in {FORMAT, *STEPS}:
        raise StoreError(
            f"{path} has format {version} and this Hermes Kernel reads {FORMAT}: run `pip install -U hermes-kernel`"
        )
    return int(version)


def migrate(connection: DuckDBPyConnection, path: Path, version: int) -> None:
    """Bring the database of format `version`, which is attached as ``store``, to the format of today. Nothing is
    attached afterwards.

    Raises:
        OSError: there is no room for a second one.
    """
    fresh = aside(path)
    make(fresh.parent)
    fresh.unlink(missing_ok=True)
    wal(fresh).unlink(missing_ok=True)
    try:
        _build(connection, fresh, STEPS[version])
        detach(connection, path)
        _on_disk(fresh)
        _keep(path, backup(path, version))
        fresh.rename(path)
        sync_folder(path.parent)
    finally:
        fresh.unlink(missing_ok=True)
        wal(fresh).unlink(missing_ok=True)


def aside(path: Path) -> Path:
    """Where the new one is built: while it is there, whoever holds the store's lock is at it."""
    return path.parent / "store" / "migrating.duckdb"


def backup(path: Path, version: int) -> Path:
    """Where a database of an older format stays."""
    return path.with_name(f"{path.name}.format-{version}.bak")


def _build(connection: DuckDBPyConnection, fresh: Path, step: str) -> None:
    connection.execute(f"ATTACH {literal(fresh)} AS fresh (STORAGE_VERSION '{STORAGE}', {GROUPS})")
    try:
        connection.execute("USE fresh")
        connection.execute("BEGIN")
        connection.execute(TABLES)
        connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
        connection.execute(STORED_VIEWS)
        connection.execute(step)
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT fresh")
    finally:
        connection.execute("USE memory")
    connection.execute("DETACH fresh")


def _on_disk(path: Path) -> None:
    path.chmod(PRIVATE_FILE)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _keep(path: Path, kept: Path) -> None:
    """A second name for the old file, or a copy where the disk knows no second names."""
    if kept.exists() and kept.samefile(path):
        return
    spare = kept.with_suffix(".new")
    spare.unlink(missing_ok=True)
    try:
        spare.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, spare)
    _on_disk(spare)
    spare.rename(kept)
    sync_folder(kept.parent)
