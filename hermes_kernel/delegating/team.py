"""Several subagents at once: some work, the others wait for a place; reports come in the order of the tasks.

Whatever becomes of one, the others go on, and what it has is reported. All end with the latch, or when time is up.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from itertools import islice

from hermes_kernel.core.events import Event, Returned, Subagent
from hermes_kernel.core.text import brief
from hermes_kernel.delegating.ahead import Ahead
from hermes_kernel.delegating.calming import calmed
from hermes_kernel.delegating.child import Child, Terms
from hermes_kernel.delegating.purse import Purse
from hermes_kernel.delegating.report import NO_CALLS, Report
from hermes_kernel.delegating.tasks import Task
from hermes_kernel.resources import Resources
from hermes_kernel.world.spec import guard
from hermes_kernel.world.stop import Stop

STOPPED = "it was stopped before it began"
LATE = "the {:g} s that the group may take were over"


class Team:
    """The subagents of one call, which share what `purse` lends. Made for one use."""

    def __init__(self, resources: Resources, terms: Terms, purse: Purse, tasks: Sequence[Task]) -> None:
        self._resources = resources
        self._terms = terms
        self._purse = purse
        self._tasks = tasks
        self._waiting = dict(enumerate(tasks))
        self._children: dict[int, Child] = {}
        self._unlent: set[int] = set()

    async def work(self, above: Stop, seconds: float) -> tuple[Report, ...]:
        """The reports, at the latest a moment after `above` is pressed or `seconds` have passed (0: any time)."""
        settings = self._resources.equipment.settings
        with above.below() as stop:
            async with stop.after(guard(self._resources.clock), seconds):
                working = self._in_order if settings.spec else self._as_it_comes
                ended = await working(settings.delegate_workers, stop)
        late = LATE.format(seconds) if stop.by == "time" and not above.by else ""
        return tuple(self._reports(ended, late))

    async def _as_it_comes(self, workers: int, stop: Stop) -> Sequence[BaseException | None]:
        places = asyncio.Semaphore(workers)
        working = (self._in_place(at, places, stop) for at in range(len(self._tasks)))
        return await asyncio.gather(*working, return_exceptions=True)

    async def _in_place(self, at: int, places: asyncio.Semaphore, stop: Stop) -> None:
        async with places:
            if not stop.by and (child := await self._lent(at, stop)):
                await self._told(child, self._played(child, stop))

    async def _in_order(self, workers: int, stop: Stop) -> Sequence[BaseException | None]:
        """What one does is told after all that those before it did, and the next one begins when it was. What that one
        is lent then never depends on who was faster."""
        waiting, ended = iter(range(len(self._tasks))), list[BaseException | None]()
        working: deque[tuple[Child, Ahead] | None] = deque()
        try:
            for _ in self._tasks:
                for at in islice(waiting, workers - len(working)):
                    child = None if stop.by else await self._lent(at, stop)
                    working.append((child, Ahead(self._played(child, stop), self._resources.clock)) if child else None)
                ended.append(await self._heard(working.popleft()))
        finally:
            for child, ahead in filter(None, working):
                await ahead.close()
                await self._taken_back(child)
        return ended

    async def _heard(self, working: tuple[Child, Ahead] | None) -> BaseException | None:
        if working is None:
            return None
        child, ahead = working
        try:
            await self._told(child, ahead.heard())
        except Exception as error:  # noqa: BLE001 - whatever becomes of one, the others go on
            return error
        return None

    async def _lent(self, at: int, stop: Stop) -> Child | None:
        """The subagent of a task, with what it is lent; None where there is nothing to lend."""
        task, lease = self._waiting.pop(at), self._resources.new_id()
        asked = [task.budget, *(other.budget for other in self._waiting.values())]
        calls = await self._purse.lend(lease, self._resources.equipment.redact(task.title), asked)
        if not calls:
            self._unlent |= set() if stop.by else {at}
            return None
        self._children[at] = child = Child(self._resources, self._terms, task, lease, calls)
        return child

    def _played(self, child: Child, stop: Stop) -> AsyncGenerator[Event, None]:
        return calmed(child.play(stop), self._resources.clock.elapsed)

    async def _told(self, child: Child, events: AsyncGenerator[Event, None]) -> None:
        """Tell what it does, and take back what it was lent: what it used is on record however it ended."""
        try:
            async with aclosing(events) as told:
                async for event in told:
                    await self._purse.tell(Subagent(child.lease, event))
        finally:
            await self._taken_back(child)

    async def _taken_back(self, child: Child) -> None:
        report = child.report()
        await self._purse.tell(Returned(child.lease, report.used, report.outcome, report.usage))

    def _reports(self, ended: Sequence[BaseException | None], late: str) -> Iterator[Report]:
        for at, (task, error) in enumerate(zip(self._tasks, ended, strict=True)):
            child = self._children.get(at)
            if child is None:
                yield Report(task.title, task.task, reason=NO_CALLS if at in self._unlent else late or STOPPED)
            elif error is not None:
                yield child.report(f"it broke off: {brief(repr(error), 200)}")
            else:
                yield child.report(late if child.session.turn.stopped else "")
