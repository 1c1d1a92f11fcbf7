"""When a schedule is due, found by looking at a clock in every minute there is.

Nothing of ours and no cron library has a part in it: zoneinfo says what a clock reads at each minute of UTC, and the two
rules for days on which clocks are moved are these.

- A fixed time is due at the first minute at which the clock reads it, or has just jumped past it.
- What comes often (its minutes or hours begin with a star) is due at each minute at which the clock reads one of its times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

Days = Callable[[date], bool]
Times = Callable[[time], bool]

EPOCH = date(1970, 1, 1)


@lru_cache(512)
def clock(zone: str, day: date) -> tuple[tuple[int, datetime], ...]:
    """What the clock reads at each minute of a day of UTC, the minutes in seconds since 1970."""
    begins = (day - EPOCH).days * 86_400
    there = ZoneInfo(zone)
    minutes = range(begins, begins + 86_400, 60)
    return tuple((t, datetime.fromtimestamp(t, there).replace(tzinfo=None)) for t in minutes)


def around(zone: str, day: date) -> Iterator[tuple[int, datetime]]:
    """All minutes at which the clock may read ``day``, and some more on both sides."""
    for shift in (-1, 0, 1):
        yield from clock(zone, day + timedelta(days=shift))


@dataclass(frozen=True)
class Fixed:
    """At certain times of certain days."""

    days: Days
    times: tuple[time, ...]

    def on(self, day: date, zone: str) -> set[int]:
        walls = [datetime.combine(day, each) for each in self.times]
        return {next(t for t, reads in around(zone, day) if reads >= wall) for wall in walls}


@dataclass(frozen=True)
class Often:
    """Whenever it is one of many times of certain days."""

    days: Days
    times: Times

    def on(self, day: date, zone: str) -> set[int]:
        return {t for t, reads in around(zone, day) if reads.date() == day and self.times(reads.time())}


@dataclass(frozen=True)
class Apart:
    """So many seconds after one another, from now on."""

    seconds: int


@dataclass(frozen=True)
class After:
    """Once, so many seconds from now."""

    seconds: int


Meaning = Fixed | Often | Apart | After


def due(meaning: Meaning, zone: str, now: int, count: int = 5, last: date = date(2400, 1, 1)) -> tuple[int, ...]:
    """The first instants after ``now``, as many as there are until the day ``last``."""
    match meaning:
        case Apart(seconds):
            return tuple(now + seconds * each for each in range(1, count + 1))
        case After(seconds):
            return (now + seconds,)
        case Fixed() | Often():
            return _looked_for(meaning, zone, now, count, last)


def _looked_for(meaning: Fixed | Often, zone: str, now: int, count: int, last: date) -> tuple[int, ...]:
    found: set[int] = set()
    day = datetime.fromtimestamp(now, UTC).date() - timedelta(days=2)
    beyond = 0  # days looked at since there were enough: a later one may still hold an earlier instant
    while beyond < 2 and day < last:
        beyond += len(found) >= count
        found |= {t for t in meaning.on(day, zone) if t > now} if meaning.days(day) else set()
        day += timedelta(days=1)
    return tuple(sorted(found)[:count])


def at(times: str, days: Days = lambda _: True) -> Fixed:
    return Fixed(days, tuple(time.fromisoformat(each) for each in times.split()))


def often(times: Times, days: Days = lambda _: True) -> Often:
    return Often(days, times)


def once(wall: str) -> Fixed:
    then = datetime.fromisoformat(wall)
    return Fixed(lambda day: day == then.date(), (then.time(),))


MON, TUE, WED, THU, FRI, SAT, SUN = range(7)


def week(*weekdays: int) -> Days:
    return lambda day: day.weekday() in weekdays


def month(*dates: int) -> Days:
    return lambda day: day.day in dates


def year(of: int, *dates: int) -> Days:
    return lambda day: day.month == of and day.day in dates


def is_last(day: date) -> bool:
    return (day + timedelta(days=1)).day == 1


def nth(number: int, weekday: int) -> Days:
    """The ``number``-th such weekday of its month; 0 for the last."""

    def holds(day: date) -> bool:
        if day.weekday() != weekday:
            return False
        same = [each for each in range(1, 32) if _is(day, each, weekday)]
        return len(same) >= number and day.day == same[number - 1]

    return holds


def _is(day: date, number: int, weekday: int) -> bool:
    try:
        return day.replace(day=number).weekday() == weekday
    except ValueError:
        return False


def last_weekday(day: date) -> bool:
    """The last Monday to Friday of its month."""
    after = [day + timedelta(days=each) for each in range(1, 4)]
    return day.weekday() < SAT and not any(each.month == day.month and each.weekday() < SAT for each in after)


def both(*rules: Days) -> Days:
    return lambda day: all(rule(day) for rule in rules)


def either(*rules: Days) -> Days:
    return lambda day: any(rule(day) for rule in rules)
