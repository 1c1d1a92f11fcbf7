"""Several subagents at once: some work, the others wait for a place; reports come in the order of the tasks.

Whatever becomes of one, the others go on, and what it has is reported. All end with the latch, or when time is up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing

from hermes_kernel.core.events import Returned, Subagent
from hermes_kernel.core.text import brief
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
        places = asyncio.Semaphore(self._resources.equipment.settings.delegate_workers)
        with above.below() as stop:
            async with stop.after(guard(self._resources.clock), seconds):
                working = (self._in_place(at, places, stop) for at in range(len(self._tasks)))
                ended = await asyncio.gather(*working, return_exceptions=True)
        late = LATE.format(seconds) if stop.by == "time" and not above.by else ""
        return tuple(self._reports(ended, late))

    async def _in_place(self, at: int, places: asyncio.Semaphore, stop: Stop) -> None:
        async with places:
            if not stop.by:
                await self._one(at, stop)

    async def _one(self, at: int, stop: Stop) -> None:
        """Lend, have the subagent work, take back: what it used is on record however it ended."""
        task, lease = self._waiting.pop(at), self._resources.new_id()
        asked = [task.budget, *(other.budget for other in self._waiting.values())]
        calls = await self._purse.lend(lease, self._resources.equipment.redact(task.title), asked)
        if not calls:
            self._unlent |= set() if stop.by else {at}
            return
        self._children[at] = child = Child(self._resources, self._terms, task, lease, calls)
        try:
            async with aclosing(calmed(child.play(stop), self._resources.clock.elapsed)) as events:
                async for event in events:
                    await self._purse.tell(Subagent(lease, event))
        finally:
            report = child.report()
            await self._purse.tell(Returned(lease, report.used, report.outcome, report.usage))

    def _reports(self, ended: Sequence[BaseException | None], late: str) -> Iterator[Report]:
        for at, (task, error) in enumerate(zip(self._tasks, ended, strict=True)):
            child = self._children.get(at)
            if child is None:
                yield Report(task.title, task.task, reason=NO_CALLS if at in self._unlent else late or STOPPED)
            elif error is not None:
                yield child.report(f"it broke off: {brief(repr(error), 200)}")
            else:
                yield child.report(late if child.session.turn.stopped else "")
