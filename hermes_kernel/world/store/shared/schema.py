"""The schema on the server: made on first use by whoever comes first, migrated by whoever is newer, never guessed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from hermes_kernel.world.store.places import StoreError
from hermes_kernel.world.store.shared.tables import FUNCTIONS, STEPS
from hermes_kernel.world.store.shared.views_beside import EDITION_OF, STORED_VIEWS
from hermes_kernel.world.store.views_beside import EDITION, edition

if TYPE_CHECKING:
    from psycopg import Connection

# Not by `to_regclass`: what it once found missing it may go on missing for a whole transaction.
EXISTS = """
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables
               WHERE schemaname = current_setting('search_path') AND tablename = 'format')
"""
ALONE = "SELECT pg_advisory_xact_lock(1751478894, hashtext(current_setting('search_path')))"


def ready(connection: Connection, schema: str, steps: tuple[str, ...] = STEPS) -> None:
    """Have the store in `schema` in the format of this program.

    Raises:
        StoreError: it is of a newer format.
        psycopg.Error: as the server says.
    """
    if _version(connection) < len(steps):
        with connection.transaction():
            connection.execute(ALONE)
            _migrate(connection, schema, steps)
    known(connection, steps)
    if edition(connection.execute(EDITION_OF).fetchall()) < EDITION:
        _renew_views(connection)


def known(connection: Connection, steps: tuple[str, ...] = STEPS) -> None:
    """Nothing, where the store is of a format that this program knows, or is not made yet.

    Raises:
        StoreError: it is of a newer format.
        psycopg.Error: as the server says.
    """
    if (version := _version(connection)) > len(steps):
        raise StoreError(
            f"the shared store has format {version} and this Hermes Kernel knows {len(steps)}: "
            "run `pip install -U hermes-kernel`"
        )


def _version(connection: Connection) -> int:
    ((exists,),) = connection.execute(EXISTS).fetchall()
    if not exists:
        return 0
    ((version,),) = connection.execute("SELECT version FROM format").fetchall()
    return int(version)


def _renew_views(connection: Connection) -> None:
    """Other programs find the views of today once somebody comes by who may change them; nobody has to."""
    from psycopg.errors import InsufficientPrivilege

    with suppress(InsufficientPrivilege), connection.transaction():
        connection.execute(ALONE)
        if edition(connection.execute(EDITION_OF).fetchall()) < EDITION:
            connection.execute(STORED_VIEWS.encode())


def _migrate(connection: Connection, schema: str, steps: tuple[str, ...]) -> None:
    """From whatever version it is by the time we are alone."""
    version = _version(connection)
    if not version:
        # The name is one that `address` let through, never data.
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
    for step in steps[version:]:
        connection.execute(step.encode())
    connection.execute(FUNCTIONS.encode())
    connection.execute(STORED_VIEWS.encode())
    connection.execute("UPDATE format SET version = %s", [len(steps)])
