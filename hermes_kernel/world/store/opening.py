"""Opening a home's store, with or without one that it shares."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path

from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.store import Store
from hermes_kernel.world.zone import LOCAL


def open_store(
    home: Path, store_url: str = "", *, clock: Clock | None = None, ids: Callable[[], str] = fresh_id,
    zone: tzinfo = LOCAL,
) -> Store:  # fmt: skip
    """The store of `home`; with a `store_url`, of every home that names the same. Nothing is made, read or asked yet.

    Raises:
        StoreError: `store_url` is no PostgreSQL URL, or psycopg is missing; the text says what to do.
    """
    if not store_url:
        return Store(home, clock=clock, ids=ids, zone=zone)
    from hermes_kernel.world.store.shared.address import address
    from hermes_kernel.world.store.shared.hub import Hub

    clock = clock or SystemClock()
    return Store(home, clock=clock, ids=ids, shared=Hub(address(store_url), clock=clock, ids=ids), zone=zone)
