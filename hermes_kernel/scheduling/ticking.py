"""A tick: every job of this home of which something is due is claimed and acted on, until nothing is due or running.

Needs no leader. Whoever else ticks at the same time holds the claims of other jobs, or finds nothing left to do; how
many run at once is counted in the home.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from hermes_kernel.core.safe import clean
from hermes_kernel.core.schedule.due import Begin, decide, next_start
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.ledger import Ledger
from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.text import brief
from hermes_kernel.scheduling.acting import SAID, Acting
from hermes_kernel.scheduling.means import Handled, Means
from hermes_kernel.scheduling.posts import QUEUE, Post, Slots
from hermes_kernel.world.ports import Claim
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import InUse, StoreError

__all__ = ["Handled", "Ticker"]

LATER = 60.0  # seconds after which a job is looked at again that others act on, or that cannot be acted on
OPEN = 300.0  # seconds after which one looks whether whoever runs a job is still alive
OFTEN = 10.0  # seconds between two looks while something runs, whether or not anybody said that there is news


class Ticker:
    """What does all that is due, with these ``means``."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def tick(self, stop: Stop, tell: Callable[[Handled], object] = lambda _: None) -> None:
        """All that is due, and what becomes due meanwhile; `tell` is told of each thing that was done when it was. Once
        `stop` is pressed nothing begins, and what runs is stopped and recorded so. What goes wrong with one job is told
        and costs no other.

        Raises:
            StoreError: the store cannot be read.
        """
        home = self._means.home
        tick = _Tick(self._means, tell, Slots(home, self._means.workers), Post(home, QUEUE))
        try:
            while tick.goes_on(stop):
                await tick.wait(stop)
                tick.reap()
        finally:
            await tick.end()
        if tick.bug:
            raise tick.bug


@dataclass(slots=True)
class _Doing:
    """Somebody acting on a job; with a ``slot``, one of those who may run it."""

    acting: Acting
    task: asyncio.Task[None]
    claim: Claim
    slot: Post | None


@dataclass(slots=True)
class _Tick:
    """One of them, while it lasts. ``doing`` is who acts on which job; ``troubled`` are jobs on which nobody could, by
    id, with what was said of each and until when it is left alone; ``busy`` are those on which others do, or which wait
    for one of the ``slots``: the tick at the ``queue`` stays until none ``waits``. ``looked`` is when it last looked at
    all jobs, and ``next`` what it found."""

    means: Means
    tell: Callable[[Handled], object]
    slots: Slots
    queue: Post
    doing: dict[str, _Doing] = field(default_factory=dict)
    troubled: dict[str, tuple[str, float]] = field(default_factory=dict)
    busy: set[str] = field(default_factory=set)
    waits: bool = False
    bug: Exception | None = None
    looked: float = 0.0
    next: float | None = None

    # --- looking

    def goes_on(self, stop: Stop) -> bool:
        """As `look`. What runs is not ended because the store cannot be read at a moment: it is looked at again."""
        try:
            return self.look(stop)
        except StoreError:
            if not self.doing:
                raise
            return True

    def look(self, stop: Stop) -> bool:
        """Begin to act on every job about which there is something to do, what is due longest first; whether anybody
        acts on any, or this tick is the one that waits for a slot.

        Raises:
            StoreError: the store cannot be read.
        """
        book, self.looked = self.means.book, self.means.clock.now()
        jobs = {id_: job for id_, job in book.tended().items() if self.means.may_run(job)}
        ledgers = book.ledgers(jobs)
        starts = {id_: self._start(job, ledgers[id_]) for id_, job in jobs.items()}
        for id_, each in self.doing.items():
            each.acting.heed(ledgers[id_].stops if id_ in ledgers else {})
        self.busy.clear()
        self.waits = False
        for id_ in sorted(starts, key=lambda each: starts[each] or 0.0):
            if not stop.by and not self.bug:
                self._begin(jobs[id_], ledgers[id_], stop)
        times = [self._time(id_, start, ledgers[id_]) for id_, start in starts.items()]
        self.next = min((time for time in times if time is not None), default=None)
        self.means.agenda.write(self.next)
        return self._queues() or bool(self.doing)

    def _queues(self) -> bool:
        """It stays for jobs that wait for a slot. One in a home does: ticks that come each minute would be many."""
        if self.waits:
            return self.queue.counts()
        self.queue.leave()
        return False

    def _start(self, job: Job, ledger: Ledger) -> float | None:
        try:
            return next_start(job, ledger)
        except ScheduleError as error:
            self._trouble(job, f"its schedule cannot be read: {error}")
            return None

    def _time(self, job: str, start: float | None, ledger: Ledger) -> float | None:
        """When the job is to be looked at again, by whomever."""
        if job in self.doing or (job in self.busy and ledger.open):
            return self.looked + OPEN
        if job in self.busy or (job in self.troubled and start is not None):
            return max(start or 0.0, self.looked + LATER)
        return start

    def _begin(self, job: Job, ledger: Ledger, stop: Stop) -> None:
        if job.id in self.doing or self._left_alone(job):
            return
        step = decide(job, ledger, self.looked)
        if step is None:
            return
        if self.means.cut_off(job):
            self.busy.add(job.id)
            return
        slot = self.slots.take()
        if isinstance(step, Begin) and not slot:
            self.busy.add(job.id)
            self.waits = True
            return
        claim = self._claimed(job)
        if not claim:
            self.slots.free(slot)
            return
        acting = Acting(self.means, job, self.tell)
        task = asyncio.ensure_future(acting.play(stop, slot=bool(slot)))
        self.doing[job.id] = _Doing(acting, task, claim, slot)

    def _claimed(self, job: Job) -> Claim | None:
        try:
            return self.means.book.claim(job.id)
        except InUse:
            self.busy.add(job.id)
        except StoreError as error:
            self._trouble(job, str(error))
        return None

    def _trouble(self, job: Job, text: str) -> None:
        """It is said once, and tried again later: a tick may go on for days."""
        said, _ = self.troubled.get(job.id, ("", 0.0))
        self.troubled[job.id] = text, self.means.clock.elapsed() + LATER
        if said != text:
            self.tell(Handled(job.id, clean(job.name), clean(brief(text, SAID))))

    def _left_alone(self, job: Job) -> bool:
        _, until = self.troubled.get(job.id, ("", 0.0))
        return job.id in self.troubled and self.means.clock.elapsed() < until

    # --- waiting

    async def wait(self, stop: Stop) -> None:
        """Until somebody has done his work, or there may be something new to look at; where nobody has any, no longer
        than until `stop` is pressed."""
        clock = self.means.clock
        began = clock.elapsed()
        while True:
            sleeper = asyncio.ensure_future(clock.sleep(self.means.looks))
            await asyncio.wait({sleeper, *(each.task for each in self.doing.values())}, return_when="FIRST_COMPLETED")
            sleeper.cancel()
            await asyncio.gather(sleeper, return_exceptions=True)
            over = stop.by and not self.doing
            if over or self._news() or clock.elapsed() - began >= OFTEN:
                return

    def _news(self) -> bool:
        """Somebody is done, something became due, or is due earlier than was known: another has changed jobs. That it
        is later by what another has found is none: two that wait would tell each other for ever."""
        if any(each.task.done() for each in self.doing.values()):
            return True
        known = math.inf if self.next is None else self.next
        said = self.means.agenda.read()
        return (said is not None and said < known) or self.looked < known <= self.means.clock.now()

    def reap(self) -> None:
        """Let those go who are done."""
        for id_, each in tuple(self.doing.items()):
            if each.task.done():
                del self.doing[id_]
                each.claim.close()
                self.slots.free(each.slot)
                self._judge(each)

    def _judge(self, each: _Doing) -> None:
        match each.task.exception():
            case InUse():
                return
            case None:
                self.troubled.pop(each.acting.job.id, None)
            case StoreError() | ScheduleError() as error:
                self._trouble(each.acting.job, str(error))
            case Exception() as error:
                self.bug = self.bug or error
            case error:
                raise error

    async def end(self) -> None:
        """Nobody acts any more, and others may. A task that was never begun closes nothing, so its claim is closed
        here."""
        left = tuple(self.doing.values())
        for each in left:
            each.task.cancel()
        await asyncio.gather(*(each.task for each in left), return_exceptions=True)
        for each in left:
            each.claim.close()
        self.slots.close()
        self.queue.leave()
