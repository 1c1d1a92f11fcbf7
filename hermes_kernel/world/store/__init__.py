"""The durable record of sessions. DuckDB is imported when it is first needed, never to append.

Here: journals, the database and how one becomes the other. `index`: what makes a search quick. `asking`: questions,
over all of it as one. `retention`: what goes for good. `shared`: a store of several homes.
"""

from hermes_kernel.world.store.asking.listing import SessionRow
from hermes_kernel.world.store.asking.spending import By, UsageRow
from hermes_kernel.world.store.fold import Folded
from hermes_kernel.world.store.locks import Claim
from hermes_kernel.world.store.memory import MemoryLog
from hermes_kernel.world.store.places import InUse, NoSession, StoreError
from hermes_kernel.world.store.store import Store

__all__ = ["By", "Claim", "Folded", "InUse", "MemoryLog", "NoSession", "SessionRow", "Store", "StoreError", "UsageRow"]
