"""A curator that is killed at every moment at which it touches the disk, and several that come at once.

``python -m tests.kill.curating HOME`` looks whether a run is due.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hermes_kernel.core.learning.curating import DAY
from hermes_kernel.learning.curating.idling import last_active
from hermes_kernel.world.store.store import Store
from tests.contracts.curated import START, Days, Tended
from tests.kill.dying import die_at

NAMES = tuple(f"old-{n}" for n in range(3))
LATER = START + 100 * DAY


def tended(home: Path, t: float) -> Tended:
    """A home on disk, at the time `t`."""
    clock = Days(t)
    store = Store(home, clock=clock)
    return Tended(home, clock=clock, store=store, active=lambda: last_active(store))


def make(home: Path) -> None:
    """Three skills that are stale and due for the archive, one that is due to become stale, one used, one a person's."""
    made = tended(home, START)
    made.made(*NAMES[:2], category="work")
    made.made(NAMES[2])
    made.use(*NAMES)
    made.clock.t = START + 40 * DAY
    asyncio.run(made.curator.run(review=False))
    made.clock.t = START + 65 * DAY
    made.made("stale", "used")
    made.use("stale", "used")
    made.by_hand("mine")
    made.clock.t = LATER - DAY
    made.use("used")
    made.store.close()


def child(home: str, what: str, at: int) -> None:
    """A run (``die``) or a rollback (``back``) that dies at its `at`th touch of the disk."""
    made = tended(Path(home), LATER if what == "die" else LATER + 60)
    die_at(at)
    asyncio.run(made.curator.run(review=False) if what == "die" else made.curator.rollback())


def main() -> None:
    """Look whether a run is due, and say its id."""
    run = asyncio.run(tended(Path(sys.argv[1]), LATER).curator.visit())
    print(run.id if run else "", flush=True)


if __name__ == "__main__":
    main()
