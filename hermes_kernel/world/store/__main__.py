"""``python -m hermes_kernel.world.store HOME``: fold once.

Not at a lower priority: readers wait for the lock it holds.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.apart import STORE_URL
from hermes_kernel.world.store.opening import open_store

if __name__ == "__main__":
    with suppress(StoreError):
        open_store(Path(sys.argv[1]), os.environ.get(STORE_URL, "")).fold()
