"""A world in which the same cells tell the same: time that passes only where something waits for it, ids that are
counted. Nothing here is told from the machine, the hour, or what happened to be faster."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from hashlib import blake2b

from hermes_kernel.world.ports import Clock

START = 1_767_225_600.0
"""2026-01-01 00:00 UTC, when a notebook begins."""

TURN = 1.0  # seconds that a turn takes, so that one is later than the one before it


class StillClock:
    """`ports.Clock` that stands still but for what was waited for and, with each turn that begins, a second. Its waits
    are real ones. Safe from any thread."""

    def __init__(self, start: float = START) -> None:
        self._start = start
        self._passed = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return self._start + self._passed

    def elapsed(self) -> float:
        return self._passed

    def chance(self) -> float:
        return 0.5

    async def sleep(self, seconds: float) -> None:
        end = self._passed + seconds
        await asyncio.sleep(seconds)
        self.reaches(end)

    def turn_begins(self) -> None:
        """What begins now is later than what was before it."""
        self.reaches(self._passed + TURN)

    def reaches(self, elapsed: float) -> None:
        """It is at least so late: of what was waited for side by side, the longest counts."""
        with self._lock:
            self._passed = max(self._passed, elapsed)


class Hurried:
    """`clock`, but nobody is kept waiting: a wait passes at once, and all of its time has passed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._skipped = 0.0

    def now(self) -> float:
        return self._clock.now() + self._skipped

    def elapsed(self) -> float:
        return self._clock.elapsed() + self._skipped

    def chance(self) -> float:
        return self._clock.chance()

    async def sleep(self, seconds: float) -> None:
        end = self.elapsed() + seconds
        await asyncio.sleep(0)
        if isinstance(self._clock, StillClock):
            self._clock.reaches(end)
        else:
            self._skipped += max(end - self.elapsed(), 0.0)


class CountedIds:
    """Ids as `ids.fresh_id` makes them, the same ones in each process. Those that are ``taken`` are passed over; of two
    processes at once in one home each has a ``series`` of its own."""

    def __init__(self, taken: Callable[[str], bool], series: int = 0) -> None:
        self._taken = taken
        self._series = series
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            while self._taken(made := self._next()):
                pass
            return made

    def _next(self) -> str:
        self._count += 1
        return blake2b(f"{self._series}.{self._count}".encode(), digest_size=16).hexdigest()
