"""When jobs run, in words for people and in instants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, pairwise

from hermes_kernel.core.figures import counted
from hermes_kernel.core.schedule import grammar
from hermes_kernel.core.schedule.instants import instants
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.saying import moment, sentence
from hermes_kernel.core.schedule.when import ScheduleError, Timed
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError

TOLD = 3  # of the next instants
COMPARED = 20  # instants between which the shortest time is looked for
ALONE = 86_400.0  # seconds by which a job that runs once may be put off
CHARS = 100  # of a schedule that cannot be read


def timed(when: object, now: float, zone: object) -> Timed:
    """What a person says of when, at `now`, by clocks in `zone` unless they name another.

    Raises:
        HermesError: it cannot be understood, is past or impossible, or there is no such zone.
    """
    if not isinstance(when, str) or not isinstance(zone, str):
        raise HermesError('When is it to run? Say it in words, such as "every monday 9am" or "in 90 minutes".')
    try:
        return grammar.parse(when, now=now, zone=zone)
    except ScheduleError as error:
        raise HermesError(str(error)) from None


def nexts(job: Job, now: float, count: int = TOLD) -> tuple[float, ...]:
    """The next instants of its schedule, whether or not it is enabled; none of one that cannot be understood."""
    kept = _kept(job)
    return tuple(islice(instants(kept, since=job.since, after=now), count)) if kept else ()


def sentence_of(job: Job) -> str:
    """When it runs, in a sentence."""
    kept = _kept(job)
    return sentence(kept) if kept else f"{brief(job.schedule, CHARS)} (not understood here)"


@dataclass(frozen=True, slots=True)
class Ahead:
    """The next instants at which a job may run, and the same in words."""

    times: tuple[float, ...]
    text: str


def ahead(job: Job, runs: int, now: float) -> Ahead:
    """What lies ahead of a job whose schedule has begun so many `runs`, whether or not it is enabled."""
    times = nexts(job, now)
    if not job.repeat or not times:
        return Ahead(times, moments(times, job.zone) or "never")
    left = times[: max(0, job.repeat - runs)]
    had = f"never: it has had its {counted(job.repeat, 'run')}, a higher `repeat` gives it more"
    return Ahead(left, moments(left, job.zone) or had)


def moments(times: Iterable[float], zone: str) -> str:
    """The times as a person reads them there, one after the other."""
    return ", ".join(moment(each, zone) for each in times)


def checked_jitter(job: Job, now: float) -> None:
    """Refuse a jitter by which one run could be put off into the next one's time."""
    gaps = [after - before for before, after in pairwise(nexts(job, now, COMPARED))]
    most = min(gaps) / 2 if gaps else ALONE
    if job.jitter > most:
        raise HermesError(
            f"jitter cannot be {job.jitter:g} s: it must be {most:g} s at most, half the time between two runs."
        )


def _kept(job: Job) -> Timed | None:
    """None where another version of this program, or another machine's zones, made it what it is."""
    try:
        return grammar.stored(job.schedule, job.zone)
    except ScheduleError:
        return None
