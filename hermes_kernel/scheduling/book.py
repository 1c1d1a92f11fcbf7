"""The record of jobs in a store: what there is to do, what was done, and the right to do it.

What was settled long ago is not read again, so that a look costs the same after two years as after two days.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from hermes_kernel.core.learnt import Dated, Lesson
from hermes_kernel.core.planned import LEDGER, PLANS, SCHEDULE, Settled, StopWanted
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.ledger import Ledger, Plan, job_of, jobs, last_of, ledgers, order, plans
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ports import Archive, Claim, Clock

HOUR, DAY = 3_600.0, 86_400.0
APART = HOUR
"""Seconds by which the clocks of machines that share a store may differ."""
WINDOWS = (2.0, 32.0, 512.0, math.inf)
"""Days back in which what was settled last is looked for, one after the other."""
MOURNED = 32 * DAY
"""Seconds after its removal in which a job is still looked at, until nothing of it is open."""


class Book:
    """That of one home, or of all that share its store. ``new_id`` gives ids of sessions. Safe from any thread."""

    def __init__(self, store: Archive, new_id: Callable[[], str], clock: Clock | None = None) -> None:
        self._store = store
        self._chronicle = Chronicle(store, new_id, SCHEDULE)
        self._clock = clock or SystemClock()

    @property
    def away(self) -> str:
        """One line while what is recorded here does not reach the others that share the store; else nothing."""
        return self._store.waiting

    def jobs(self) -> dict[str, Job]:
        """The jobs that there are, by id, oldest first.

        Raises:
            StoreError: the store cannot be read.
        """
        return jobs(self._store.learnt(PLANS))

    def tended(self) -> dict[str, Job]:
        """The jobs that there are, and as they were last those that were removed and of which something may be open.

        Raises:
            StoreError: the store cannot be read.
        """
        known = plans(self._store.learnt(PLANS))
        gone = {job: its[-1].t for job, its in known.items() if its[-1].job is None and self._mourned(its[-1].t)}
        laid = _bases(self._store.learnt((Settled,), min(gone.values()))) if gone else {}
        open_ = {job for job, t in gone.items() if laid.get(job, -1.0) < t}
        last = {job: last_of(its) for job, its in known.items()}
        return {job: it for job, it in last.items() if it and (known[job][-1].job or job in open_)}

    def _mourned(self, t: float) -> bool:
        return t >= self._clock.now() - MOURNED

    def ledgers(self, jobs: Mapping[str, Job]) -> dict[str, Ledger]:
        """What became of each of these, by id.

        Raises:
            StoreError: the store cannot be read.
        """
        found = ledgers(self.facts(jobs))
        return {job: found.get(job, Ledger()) for job in jobs}

    def facts(self, jobs: Collection[str]) -> tuple[Dated, ...]:
        """What the ledgers of these, by their ids, are folds of: all that was told of them since they were settled, and
        everything that they ever were.

        Raises:
            StoreError: the store cannot be read.
        """
        made = self._store.learnt(PLANS)
        told = self._store.learnt(LEDGER, self._since(jobs, plans(made)))
        return tuple(each for each in (*made, *told) if job_of(each.fact) in jobs or isinstance(each.fact, StopWanted))

    def _since(self, wanted: Collection[str], known: Mapping[str, tuple[Plan, ...]]) -> float:
        """From when on the record is to be read. Where the clock was set back behind it, what was written since may
        have any time of late."""
        now = self._clock.now()
        born = {job: known[job][0].t if job in known else 0.0 for job in wanted}
        bases: dict[str, float] = {}
        for days in WINDOWS:
            start = max(now - days * DAY, 0.0)
            bases = _bases(self._store.learnt((Settled,), start))
            if all(job in bases or born[job] >= start for job in wanted):
                break
        first = min((bases.get(job, born[job]) for job in wanted), default=now) - APART
        behind = any(bases.get(job, 0.0) > now for job in wanted)
        return max(min(first, now - 2 * DAY) if behind else first, 0.0)

    def record(self, *facts: Lesson) -> None:
        """On disk when it returns.

        Raises:
            StoreError: the store cannot be written; nothing was recorded.
        """
        self._chronicle.record(*map(self._in_order, facts))

    def _in_order(self, fact: Lesson) -> Lesson:
        """A change of a job comes after what it changes, though the clock was set back since, or is behind another
        machine's."""
        if not isinstance(fact, PLANS):
            return fact
        known = [order(each) for each in self._store.learnt(PLANS) if job_of(each.fact) == job_of(fact)]
        last = max(known, default=0.0)
        return replace(fact, after=math.nextafter(last, math.inf)) if last > self._clock.now() else fact

    def claim(self, job: str) -> Claim:
        """The right to act on `job`, until closed or dead.

        Raises:
            InUse: another process acts on it.
            StoreError: it cannot be had, for another reason.
        """
        return self._store.claim(job)

    def check(self, job: str) -> None:
        """Who claimed `job` may still act on it, as far as was known when the record was last read or written.

        Raises:
            InUse: another process may, since the way to the store was lost.
        """
        self._store.check(job)

    def wanted_stop(self, run: str, since: float) -> bool:
        """Somebody, on whichever machine, wants `run` stopped, and wanted it after `since` (seconds since 1970).

        Raises:
            StoreError: the store cannot be read.
        """
        return bool(self.stopped_by(run, since))

    def stopped_by(self, run: str, since: float) -> str:
        """Who wanted it first; nothing where nobody did. Raises as `wanted_stop`."""
        told = self._store.learnt((StopWanted,), max(since - APART, 0.0))
        return next((each.fact.by for each in told if isinstance(each.fact, StopWanted) and each.fact.run == run), "")


def _bases(facts: Iterable[Dated]) -> dict[str, float]:
    """When each job was last settled."""
    found: dict[str, tuple[float, float]] = {}
    for each in facts:
        if isinstance(each.fact, Settled):
            at = each.fact.through, each.t
            found[each.fact.job] = max(at, found.get(each.fact.job, at))
    return {job: t for job, (_, t) in found.items()}
