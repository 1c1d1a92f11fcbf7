"""Events that happen ahead of whoever listens to them: nothing waits for it, and it hears them when its turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from hermes_kernel.core.events import Event
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.spec import apart, meets


class Ahead:
    """`events`, which go on from here on by themselves, in a time of their own."""

    def __init__(self, events: AsyncGenerator[Event, None], clock: Clock) -> None:
        self._clock = clock
        self._told: asyncio.Queue[tuple[Event, float] | None] = asyncio.Queue()
        self._task = asyncio.ensure_future(self._play(events))

    async def heard(self) -> AsyncGenerator[Event, None]:
        """All of them, to their end; raises what ended them. Left early, they are broken off."""
        try:
            while (told := await self._told.get()) is not None:
                event, moment = told
                meets(self._clock, moment)
                yield event
            await self._task
        finally:
            await self.close()

    async def close(self) -> None:
        """Break them off."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        apart(self._clock)
        try:
            async with aclosing(events) as happening:
                async for event in happening:
                    self._told.put_nowait((event, self._clock.elapsed()))
        finally:
            self._told.put_nowait(None)
