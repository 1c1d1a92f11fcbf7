"""In which order it is told what the calls of one reply do. They run at once all the same.

As it comes; or the same each time, whatever was faster: first that each begins, in the order of the calls as far as
each can begin at once; then what subagents do, one group after the other; then all results, in the order of the calls.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from hermes_kernel.core.events import Event, Observed, Started
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop, Stopped
from hermes_kernel.world.tools.calls import Answered, Ready
from hermes_kernel.world.tools.threads import in_thread

Put = Callable[[Event, float], Awaitable[None]]
"""Tells an event that happened at a time of the clock; returns when it was taken."""

Finish = Callable[[], Observed]
"""Makes a call's result of what the tool returned, and remembers it: what comes after it may be noted for that."""


class AsItComes:
    """Told when it happens."""

    def __init__(self, put: Put, clock: Clock) -> None:
        self._put = put
        self._clock = clock

    async def turn(self, at: int) -> None:
        """Return when call number `at` may begin, as far as the order goes."""

    async def floor(self, at: int) -> None:
        """Return when call number `at` may speak of what it does."""

    async def tell(self, at: int, event: Event) -> None:
        """Tell an event of call number `at`."""
        await self._put(event, self._clock.elapsed())

    async def ends(self, at: int, finish: Finish, *, long: bool = False) -> None:
        """Tell the result of call number `at`. One that is `long` is made off the loop."""
        await self.tell(at, await in_thread(finish) if long else finish())

    def held(self) -> list[tuple[Observed, float]]:
        """What has happened, and when, and is not told yet: in the order of the calls, and once."""
        return []


class InOrder(AsItComes):
    """Told in the same order each time, until `stop` is pressed. ``places`` plain functions may run at once."""

    def __init__(self, put: Put, clock: Clock, calls: Sequence[Ready | Answered], *, places: int, stop: Stop) -> None:
        super().__init__(put, clock)
        self._stop = stop
        self._begun = [asyncio.Event() for _ in calls]
        self._ended = [asyncio.Event() for _ in calls]
        self._before = _predecessors(calls, places)
        self._talkers = [at for at, call in enumerate(calls) if isinstance(call, Ready) and call.tool.closes]
        self._results: dict[int, tuple[Finish, bool, float]] = {}
        self._left = len(calls)

    async def turn(self, at: int) -> None:
        if (before := self._before.get(at)) is not None:
            await self._begun[before].wait()

    async def tell(self, at: int, event: Event) -> None:
        if at in self._talkers and self._begun[at].is_set():
            await self.floor(at)
        await super().tell(at, event)
        if isinstance(event, Started):
            self._begun[at].set()

    async def ends(self, at: int, finish: Finish, *, long: bool = False) -> None:
        """Results are made and told when all are there: whoever brings the last one does it."""
        self._results[at] = finish, long, self._clock.elapsed()
        self._begun[at].set()
        self._ended[at].set()
        self._left -= 1
        while not self._left and self._results:
            made, large, moment = self._results.pop(min(self._results))
            await self._put(await in_thread(made) if large else made(), moment)

    def held(self) -> list[tuple[Observed, float]]:
        results, self._results = self._results, {}
        return [(results[at][0](), results[at][2]) for at in sorted(results)]

    async def floor(self, at: int) -> None:
        """Return when no group before this one speaks any more."""
        with suppress(Stopped):
            for earlier in (other for other in self._talkers if other < at):
                await self._stop.race(self._ended[earlier].wait())


def _predecessors(calls: Sequence[Ready | Answered], places: int) -> dict[int, int]:
    """Of each call that can be run the one that is to begin before it. Those that can begin at once come first, then
    those that wait for a place, or for others to be done with what they must have alone."""
    first: list[int] = []
    rest: list[int] = []
    alone = False
    for at, call in enumerate(calls):
        if isinstance(call, Answered):
            continue
        needs_place = not inspect.iscoroutinefunction(call.tool.run)
        needs_lane = call.tool.exclusive or bool(call.risk)
        waits = (needs_place and not places) or (needs_lane and (alone or bool(call.risk)))
        (rest if waits else first).append(at)
        alone = alone or needs_lane
        places -= needs_place and not waits
    order = [*first, *rest]
    return dict(zip(order[1:], order, strict=False))
