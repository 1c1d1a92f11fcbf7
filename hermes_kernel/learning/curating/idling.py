"""Whether anybody works in a home: when the last thing happened in a session that no slow loop opened itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.core.learnt import LEARNING, LOOPS
from hermes_kernel.core.planned import RUN, SCHEDULE

if TYPE_CHECKING:
    from hermes_kernel.world.store import Store

LOOKS = (16, 256, 2**31)  # sessions that are looked at, the last active first
SLOW = frozenset({LEARNING, *LOOPS, SCHEDULE, RUN})


def last_active(store: Store) -> float:
    """Seconds since 1970-01-01 UTC; 0 where nobody ever did anything.

    Raises:
        StoreError: the store cannot be read.
    """
    for most in LOOKS:
        rows = store.sessions(most)
        busy = [row.active for row in rows if row.kind not in SLOW]
        if busy or len(rows) < most:
            return max(busy, default=0.0)
    return 0.0
