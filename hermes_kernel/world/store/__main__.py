"""``python -m hermes_kernel.world.store HOME``: fold once.

Not at a lower priority: readers wait for the lock it holds.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from hermes_kernel.world.store import Store, StoreError

if __name__ == "__main__":
    with suppress(StoreError):
        Store(Path(sys.argv[1])).fold()
