"""What other loops ask of jobs: when the earliest has something to do next, in words, and which skills they name."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learnt import Dated
from hermes_kernel.core.schedule.due import next_due
from hermes_kernel.core.schedule.ledger import jobs, ledgers


def outlook(facts: Iterable[Dated]) -> str:
    """What the kept facts about jobs say of when the first of them is next due."""
    told = tuple(facts)
    living, known = jobs(told), ledgers(told)
    if not living:
        return "no jobs yet"
    starts = [(start, job.name) for job in living.values() if (start := next_due(job, known[job.id])) is not None]
    if starts:
        start, name = min(starts)
        return f"{minute(start)}: {name}"
    enabled = any(job.enabled for job in living.values())
    return f"{counted(len(living), 'job')}, none {'due again' if enabled else 'enabled'}"


def awaited(facts: Iterable[Dated]) -> frozenset[str]:
    """The skills that jobs name."""
    return frozenset(skill for job in jobs(facts).values() for skill in job.skills)
