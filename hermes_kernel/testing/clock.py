"""A clock for tests: waits take no time, and the time they would have taken has passed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import cycle


class FastClock:
    """`ports.Clock` whose `sleep` lets others run once and moves time forward by what was asked for.

    Waits up to ``real`` seconds are slept in truth: watchdogs tick in short sleeps, and a server on loopback must get
    the time to answer between two ticks. ``chances`` are repeated for ever; ``waits`` lists every longer wait.
    """

    def __init__(self, start: float | None = None, *, chances: tuple[float, ...] = (0.5,), real: float = 0.5) -> None:
        self._start = time.time() if start is None else start
        self._zero = time.monotonic()
        self._skipped = 0.0
        self._chances: Iterator[float] = cycle(chances)
        self._real = real
        self.waits: list[float] = []

    def now(self) -> float:
        return self._start + self.elapsed()

    def elapsed(self) -> float:
        return time.monotonic() - self._zero + self._skipped

    def chance(self) -> float:
        return next(self._chances)

    async def sleep(self, seconds: float) -> None:
        if seconds <= self._real:
            await asyncio.sleep(seconds)
            return
        self.waits.append(seconds)
        self._skipped += seconds
        await asyncio.sleep(0)
