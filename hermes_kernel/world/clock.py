"""The real clock, the only place in the package that asks what time it is or throws dice."""

from __future__ import annotations

import asyncio
import random
import time


class SystemClock:
    """`ports.Clock` on this machine."""

    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    def chance(self) -> float:
        return random.random()  # noqa: S311 - jitter, not a secret

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
