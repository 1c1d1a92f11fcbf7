"""A schedule in words, so that a person sees what was understood: what the grammar has words for is said in its words.

A time on a clock is said in the schedule's zone. Knows no language but English, and asks no locale.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from cronsim import CronSim

from hermes_kernel.core.schedule.durations import spelt
from hermes_kernel.core.schedule.lexicon import DAYS, MONTHS, ORDINALS, th
from hermes_kernel.core.schedule.when import At, Cron, Every, Timed
from hermes_kernel.core.schedule.zones import rules

MOST = 6
"""Times, or days of a month, that are listed one by one."""


def sentence(timed: Timed) -> str:
    """What ``timed`` means, on one line."""
    match timed.when:
        case At(t):
            at = datetime.fromtimestamp(t, ZoneInfo(timed.zone))
            return f"once, on {_date(at)} at {_clock(at)} ({timed.zone})"
        case Every(seconds):
            return f"every {spelt(seconds)}"
        case Cron(line):
            return f"{_cron(line)} ({timed.zone})"


def moment(t: float, zone: str) -> str:
    """``t`` as clocks in ``zone`` show it: ``Mon 7 Dec 2026 09:00 CET``; in UTC where this machine does not know it."""
    at = datetime.fromtimestamp(t, rules(zone))
    return f"{_date(at)} {_clock(at)} {at.tzname()}"


def _date(at: datetime) -> str:
    return f"{DAYS[at.isoweekday() % 7][:3]} {at.day} {MONTHS[at.month - 1][:3]} {at.year}"


def _clock(at: datetime) -> str:
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def _cron(line: str) -> str:
    told = CronSim(line, datetime.combine(date(2000, 1, 1), time()))
    days = _days(line.split(), told)
    times = _times(sorted(told.minutes), sorted(told.hours))
    if times.startswith("every"):
        return f"{times}, {days}" if days else times
    return f"{days or 'every day'} {times}"


def _times(minutes: list[int], hours: list[int]) -> str:
    """At what times of a day: each of a few, or how often and within what."""
    if len(minutes) * len(hours) <= MOST:
        return f"at {_and(f'{hour:02}:{minute:02}' for hour in hours for minute in minutes)}"
    past = f"at {_and(f':{minute:02}' for minute in minutes)}"
    minutely = _evenly(minutes, 60, "minute")
    hourly = _evenly(hours, 24, "hour")
    if hourly:
        return f"{minutely} by the clock" if minutely and len(hours) == 24 else f"{hourly} {past}"
    if hours != list(range(hours[0], hours[-1] + 1)):
        return f"{minutely or past} past {_and(f'{hour:02}' for hour in hours)} o'clock"
    return f"{minutely or 'every hour'} from {hours[0]:02}:{minutes[0]:02} to {hours[-1]:02}:{minutes[-1]:02}" + (
        "" if minutely or len(minutes) == 1 else f" {past}"
    )


def _evenly(values: list[int], of: int, unit: str) -> str:
    """``every 15 minutes``, where that is what they are, from 0 on and past the end."""
    step = of // len(values)
    if len(values) == 1 or values != list(range(0, of, step)):
        return ""
    return f"every {unit}" if step == 1 else f"every {step} {unit}s"


def _days(fields: list[str], told: CronSim) -> str:
    """On which days, nothing for all of them."""
    dates = "" if fields[2] == "*" else _and(_dated(each) for each in sorted(told.days, key=_late))
    week = "" if fields[4] == "*" else _week({_weekday(each) for each in told.weekdays})
    months = "" if fields[3] == "*" else _and(MONTHS[each - 1] for each in sorted(told.months))
    if not dates:
        return f"{week or 'every day' * bool(months)}{months and f' in {months}'}"
    if not week and len(told.months) == len(told.days) == 1 and min(told.days) > 0:
        return f"every year on {min(told.days)} {months}"
    monthly = f"every month on the {dates}" if not months else f"every year on the {dates} of {months}"
    if not week:
        return monthly
    return (
        f"{week} that is the {dates} of {months or 'a month'}"
        if told.day_and
        else f"{monthly}, and {week}{months and f' in {months}'}"
    )


def _week(days: set[tuple[int, int | None]]) -> str:
    plain = [day for day, nth in sorted(days, key=_mondays) if nth is None]
    if len(plain) == len(days) and plain in ([1, 2, 3, 4, 5], [6, 0]):
        return "every weekday" if len(plain) == 5 else "every weekend"
    nth = [
        f"{ORDINALS[max(each, 0)]} {DAYS[day]} of the month"
        for day, each in sorted(days, key=_mondays)
        if each is not None
    ]
    return "every " + _and([*(DAYS[day] for day in plain), *nth])


def _mondays(day: tuple[int, int | None]) -> tuple[bool, int, int]:
    """Where a day of the week stands among others: a week begins with Monday, the last of a month comes last."""
    nth = day[1] or 0
    return (nth < 0, nth, (day[0] - 1) % 7)


def _weekday(told: int | tuple[int, int]) -> tuple[int, int | None]:
    """A day of the week as cronsim tells it, and which one of the month, if not each."""
    return (told[0] % 7, told[1]) if isinstance(told, tuple) else (told % 7, None)


def _dated(day: int) -> str:
    words = {CronSim.LAST: "last day", CronSim.LAST_WEEKDAY: "last weekday"}
    return words.get(day) or f"{day}{th(day)}"


def _late(day: int) -> tuple[bool, int]:
    """Where a date stands among others: cronsim's last ones are below 0."""
    return (day < 0, day)


def _and(parts: Iterable[str]) -> str:
    """``a, b and c``; of very many the first and the last."""
    *most, last = parts
    if len(most) > MOST:
        most[3:] = ["…"]
    return f"{', '.join(most)} and {last}" if most else last
