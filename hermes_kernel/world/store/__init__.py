"""The durable record of sessions. DuckDB is imported when it is first needed, never to append."""

from hermes_kernel.world.store.fold import Folded
from hermes_kernel.world.store.listing import SessionRow
from hermes_kernel.world.store.locks import Claim
from hermes_kernel.world.store.memory import MemoryLog
from hermes_kernel.world.store.places import NoSession, StoreError
from hermes_kernel.world.store.store import Store

__all__ = ["Claim", "Folded", "MemoryLog", "NoSession", "SessionRow", "Store", "StoreError"]
