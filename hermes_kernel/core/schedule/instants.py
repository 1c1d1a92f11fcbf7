"""When a schedule is due: instants that only increase, in whole seconds since 1970-01-01 UTC.

cronsim says what a cron line's times on the clock are; which instants those are is said here, as Debian's cron has it.
A line with a fixed hour and minute runs once for each time it has: where clocks are put back the first time they show
it, where they are put forward over it as soon as they have been. One that begins its minutes or its hours with a star
runs whenever clocks show one of its times: twice where they show it twice, not at all where they jump over it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count as counting
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim

from hermes_kernel.core.schedule.clocks import passes, reached, shown
from hermes_kernel.core.schedule.when import At, Cron, Every, Timed

LAST_YEAR = 9900
END = datetime(LAST_YEAR, 1, 1, tzinfo=UTC).timestamp()
"""No instant is later: after the last year that a date can have comes an error."""


def upcoming(timed: Timed, *, now: float, count: int = 3) -> tuple[float, ...]:
    """The next instants of a job that is made at ``now``."""
    return tuple(islice(instants(timed, since=now, after=now), count))


def instants(timed: Timed, *, since: float, after: float) -> Iterator[float]:
    """Those strictly after both ``since``, when the job was made, and ``after``. What is every so often is counted from
    ``since``. Endless but for `At`: a cron line that has any times has one within 40 years."""
    last = max(since, after, 0.0)
    if last >= END:
        return iter(())
    match timed.when:
        case At(t):
            found: Iterator[float] = iter((t,) if t > last else ())
        case Every(seconds):
            start = math.ceil(max(since, 0.0))
            steps = max(1, int(last - start) // seconds + 1)
            found = map(float, counting(start + steps * seconds, seconds))
        case Cron(line):
            found = _cron(line, ZoneInfo(timed.zone), last)
    return takewhile(lambda t: t < END, found)


def _cron(line: str, zone: ZoneInfo, last: float) -> Iterator[float]:
    minute, hour, *_ = line.split()
    often = minute.startswith("*") or hour.startswith("*")
    walls = takewhile(lambda wall: wall.year < LAST_YEAR, CronSim(line, _start(last, zone)))
    for t in (_whenever_shown if often else _once_each)(walls, zone):
        if t > last:
            yield t


def _start(last: float, zone: ZoneInfo) -> datetime:
    """The time on the clock from which to look for instants after ``last``: where clocks will show the last hour again,
    before it."""
    wall = shown(last, zone).replace(microsecond=0)
    times = passes(wall, zone)
    return wall.replace(fold=0) - (timedelta(seconds=times[-1] - times[0]) if wall.fold == 0 else timedelta())


def _once_each(walls: Iterator[datetime], zone: ZoneInfo) -> Iterator[float]:
    """The instants of fixed times; what clocks jump over at once runs once."""
    last = -math.inf
    for wall in walls:
        t = reached(wall, zone)
        if t > last:
            yield t
        last = t


def _whenever_shown(walls: Iterator[datetime], zone: ZoneInfo) -> Iterator[float]:
    """The instants at which clocks show one of ``walls``, those of the second pass in their place."""
    again: deque[float] = deque()
    for wall in walls:
        times = passes(wall, zone)
        for t in times[:1]:
            while again and again[0] < t:
                yield again.popleft()
            yield t
        again.extend(times[1:])
    yield from again
