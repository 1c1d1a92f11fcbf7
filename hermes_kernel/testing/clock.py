"""A clock for tests: long waits take a thousandth of their time, and all of it has passed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import cycle

SPEED = 1000
"""How much faster long waits pass. Not at once: of two that run together the shorter one must still end first."""


class FastClock:
    """`ports.Clock` that passes time without waiting for it, from ``start`` (seconds since 1970; None: the present).

    Waits up to ``real`` seconds are slept in truth: watchdogs tick in short sleeps, and a server on loopback must get
    the time to answer between two ticks. ``chances`` are repeated for ever.
    """

    def __init__(self, start: float | None = None, *, chances: tuple[float, ...] = (0.5,), real: float = 0.5) -> None:
        self._start = time.time() if start is None else start
        self._zero = time.monotonic()
        self._chances: Iterator[float] = cycle(chances)
        self._real = real
        self.skipped = 0.0

    def now(self) -> float:
        return self._start + self.elapsed()

    def elapsed(self) -> float:
        return time.monotonic() - self._zero + self.skipped

    def chance(self) -> float:
        return next(self._chances)

    async def sleep(self, seconds: float) -> None:
        if seconds <= self._real:
            await asyncio.sleep(seconds)
            return
        end = self.elapsed() + seconds
        await asyncio.sleep(seconds / SPEED)
        self.skipped += max(0.0, end - self.elapsed())
