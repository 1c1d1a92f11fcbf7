"""A curator that is killed at every moment at which it touches the disk, and two that come at once.

``python -m tests.kill.curating HOME`` makes a home; with ``die N`` its run dies at the Nth touch, with ``back N`` its
rollback does, with ``visit`` it looks whether a run is due.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from hermes_kernel.core.learning.curating import DAY
from hermes_kernel.learning.curating.idling import last_active
from hermes_kernel.world.store.store import Store
from tests.contracts.curated import START, Days, Tended

TOUCHES = frozenset({"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "os.symlink", "ctypes.call_function"})
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


class Death:
    """Comes at the Nth time that the process changes something on disk."""

    def __init__(self, at: int) -> None:
        self.left = at
        sys.addaudithook(self.heard)

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in TOUCHES:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Do what is asked."""
    match sys.argv[1:]:
        case [home]:
            make(Path(home))
        case [home, "die", at]:
            made = tended(Path(home), LATER)
            Death(int(at))
            asyncio.run(made.curator.run(review=False))
        case [home, "back", at]:
            made = tended(Path(home), LATER + 60)
            Death(int(at))
            asyncio.run(made.curator.rollback())
        case [home, "visit"]:
            run = asyncio.run(tended(Path(home), LATER).curator.visit())
            print(run.id if run else "", flush=True)


if __name__ == "__main__":
    main()
