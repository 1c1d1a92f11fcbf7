"""Which instants of a job are not in its record yet, when each of them starts, and until when it is on time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import islice, pairwise

from hermes_kernel.core.schedule.grammar import stored
from hermes_kernel.core.schedule.instants import instants
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.ledger import Ledger
from hermes_kernel.core.schedule.when import ScheduleError

MOST = 10_000
"""Instants that one fact lets go of, and that one decision looks at."""
LEAST_GRACE, MOST_GRACE = 120.0, 7_200.0  # seconds; as the program we succeed


def coming(job: Job, ledger: Ledger) -> Iterator[tuple[float, float]]:
    """The instants that are not in the record, and when each starts: never before an earlier one."""
    start = 0.0
    if not job.enabled or ledger.removed or over(job, ledger):
        return
    for due in _instants(job, ledger.through):
        start = max(start, due + share(job.id, due) * job.jitter)
        yield due, start


def over(job: Job, ledger: Ledger) -> bool:
    """It has had all the runs that it was to have."""
    return 0 < job.repeat <= ledger.runs


def ready(job: Job, ledger: Ledger, now: float) -> list[tuple[float, float]]:
    """The oldest whose start has come; one more than may be let go of at once."""
    found: list[tuple[float, float]] = []
    for due, start in islice(coming(job, ledger), MOST + 1):
        if start > now:
            break
        found.append((due, start))
    return found


def lapsed(ledger: Ledger) -> Iterator[tuple[float, str]]:
    """The instants of what the job was before that are not in the record, and why they will not run. Which those of a
    schedule are that cannot be read here, nobody here can say."""
    for before, after in pairwise(ledger.plans):
        job, then = before.job, after.job
        if job is None or not job.enabled or over(job, ledger) or (then and then.enabled and _same(job, then)):
            continue
        why = "removed" if then is None else "changed" if then.enabled else "paused"
        with suppress(ScheduleError):
            for due in _instants(job, ledger.through):
                if due > after.t:
                    break
                yield due, f"the job was {why} before it began"


def _instants(job: Job, after: float) -> Iterator[float]:
    """Raises:
    ScheduleError: its schedule cannot be read here.
    """
    return instants(stored(job.schedule, job.zone), since=job.since, after=after)


def _same(job: Job, then: Job) -> bool:
    return (job.schedule, job.zone, job.since) == (then.schedule, then.zone, then.since)


def grace(job: Job, due: float) -> float:
    """Seconds after its start in which the instant is on time."""
    if job.grace is not None:
        return job.grace
    after = next(_instants(job, due), None)
    return MOST_GRACE if after is None else min(max((after - due) / 2, LEAST_GRACE), MOST_GRACE)


def share(job: str, due: float) -> float:
    """Which part of its jitter the start of an instant is put off by, from 0 up to 1: the same for all who ask."""
    return int.from_bytes(sha256(f"{job} {due:.0f}".encode()).digest()[:4]) / 2**32
