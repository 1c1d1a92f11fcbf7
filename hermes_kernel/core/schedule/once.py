"""What is for once: a date and a time, ``tomorrow at 9``, ``monday 9am``; as an instant that is still to come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hermes_kernel.core.schedule.clocks import jump, month_end, passes, shown
from hermes_kernel.core.schedule.lexicon import DAYS, MONTHS
from hermes_kernel.core.schedule.recurring import NINE
from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.schedule.words import Said

YEARS = 100
"""Further ahead nobody plans, and no zone's rules are known."""
LEAP = 8  # years within which every day of the calendar comes again, 2100 or not


def instant(said: Said, now: float, zone: ZoneInfo) -> float:
    """When that is which ``said`` means: the first time after ``now``.

    Raises:
        ScheduleError: it is past, never comes, or does not say when.
    """
    _whole(said)
    clock = time(said.times[0].hour, said.times[0].minute, said.times[0].second)
    if said.date and said.offset:
        t = datetime.combine(said.date, clock, said.offset).timestamp()
        return _ahead(t, shown(max(t, 0.0), zone), now, zone)
    wall = None
    for day in _candidates(said, shown(now, zone).date()):
        wall = datetime.combine(day, clock)
        if (t := _at(wall, zone)) > now:
            return _ahead(t, wall, now, zone)
    if wall is None:
        raise ScheduleError("that day never comes", f"{_day(said)} at {said.times[0]}")
    return _ahead(now, wall, now, zone)


def _whole(said: Said) -> None:
    """All that a time for once needs is there, and no more."""
    _one_date(said)
    day = _day(said)
    if not said.times:
        raise ScheduleError("at what time of the day?", f"{day} at {NINE}")
    clock = said.times[0]
    if len(said.times) > 1:
        what = "two times of the day are two schedules, or one that comes again"
        raise ScheduleError(what, f"{day} at {clock}", f"every day at {clock}")
    if said.offset and not said.date:
        raise ScheduleError("an offset from UTC goes with a date", f"{day} at {clock} utc")
    if said.coming and not said.days:
        raise ScheduleError(f"{said.coming} what?", f"{said.coming} monday at {clock}")


def _one_date(said: Said) -> None:
    """The numbers are those of one date."""
    numbers, clock = (*said.numbers, *said.ordinals), (said.times or (NINE,))[0]
    if said.date and (numbers or said.months):
        raise ScheduleError("two dates are two schedules", f"{said.date} at {clock}")
    if len(numbers) > 1 or (numbers and not said.months):
        near = (f"in {numbers[-1]}m", f"at {numbers[-1]:02}:00", f"{_day(said)} at {NINE}")
        raise ScheduleError(f"{numbers[-1]} of what?", *near)
    if said.months and (not numbers or len(said.months) > 1):
        raise ScheduleError("on which day?", f"{_day(said)} at {clock}")
    if said.year and not said.months:
        raise ScheduleError(f"on which day of {said.year}?", f"{said.year}-12-24 {clock}", f"{_day(said)} at {clock}")


def _candidates(said: Said, today: date) -> Iterator[date]:
    """The days on which it may be, the nearest first."""
    if said.date:
        days: Iterator[date] = iter((said.date,))
    elif said.months:
        days = _dates(said, today)
    else:
        days = (today + timedelta(days=ahead) for ahead in range(15))
    return (day for day in days if _fits(day, said, today))


def _dates(said: Said, today: date) -> Iterator[date]:
    number = (*said.numbers, *said.ordinals)[0]
    for year in (said.year,) if said.year else range(today.year, today.year + LEAP + 1):
        if 1 <= year <= 9999 and 1 <= number <= month_end(year, said.months[0]).day:
            yield date(year, said.months[0], number)


def _fits(day: date, said: Said, today: date) -> bool:
    if said.relative and day != today + timedelta(days=said.relative == "tomorrow"):
        return False
    if said.coming == "next" and day <= today:
        return False
    return not said.days or day.isoweekday() % 7 in said.days


def _at(wall: datetime, zone: ZoneInfo) -> float:
    if times := passes(wall, zone):
        return times[0]
    instead = shown(jump(wall, zone), zone)
    raise ScheduleError(
        f"{wall:%Y-%m-%d %H:%M} does not exist in {zone.key}: clocks go forward over it, to {instead:%H:%M}",
        f"{instead:%Y-%m-%d %H:%M}",
    )


def _ahead(t: float, wall: datetime, now: float, zone: ZoneInfo) -> float:
    if t <= now:
        today = shown(now, zone)
        later = (f"{year}-{wall:%m-%d} {wall:%H:%M}" for year in range(today.year, today.year + LEAP + 1))
        soon = "today" if wall.time() > today.time() else "tomorrow"
        raise ScheduleError(f"{wall:%Y-%m-%d %H:%M} has passed", f"{soon} at {wall:%H:%M}", *later)
    if t > now + YEARS * 366 * 86_400:
        raise ScheduleError(f"{wall:%Y-%m-%d} is more than {YEARS} years ahead", f"tomorrow at {wall:%H:%M}")
    return t


def _day(said: Said) -> str:
    """The day of ``said``, as a proposal begins."""
    if said.date:
        return said.date.isoformat()
    if said.months:
        number = ((*said.numbers, *said.ordinals) or (1,))[0]
        last = month_end(2028, said.months[0]).day
        return f"{MONTHS[said.months[0] - 1].lower()} {min(max(number, 1), last)}" + f" {said.year}" * bool(said.year)
    return said.relative or (DAYS[said.days[0]].lower() if said.days else "tomorrow")
