"""What is for once: a date and a time, ``tomorrow at 9``, ``monday 9am``, ISO; as an instant that is still to come."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hermes_kernel.core.schedule.clocks import first, jump, passes, shown
from hermes_kernel.core.schedule.recurring import NINE
from hermes_kernel.core.schedule.spelling import quoted
from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.schedule.words import DAY_NAMES, Said, Time

YEARS = 100
"""Further ahead nobody plans, and no zone's rules are known."""

_ISO = re.compile(
    r"(?:on )?([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:(?:t| at | )\s*(?:([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?\s*(z|[+-][0-9]{2}:?[0-9]{2})?|(.+)))?"
)
"""Also with words for the time: ``2026-12-24 at 6pm``."""


def iso(text: str) -> re.Match[str] | None:
    """The parts of a date in ISO's form at the beginning of ``text``, if that is what it is."""
    return _ISO.fullmatch(text)


def of_iso(found: re.Match[str], now: float, zone: ZoneInfo) -> float:
    """The instant that `iso` found.

    Raises:
        ScheduleError: there is none, or it is past.
    """
    year, month, day = (int(found[group]) for group in (1, 2, 3))
    if found[4] is None:
        raise ScheduleError(
            f"at what time on {found[1]}-{found[2]}-{found[3]}?", f"{found[1]}-{found[2]}-{found[3]} {NINE}"
        )
    try:
        wall = datetime(year, month, day, int(found[4]), int(found[5]), int(found[6] or 0))
    except ValueError as error:
        raise ScheduleError(f"{quoted(found[0])} is no date and time: {error}") from None
    if found[7]:
        return ahead(wall.replace(tzinfo=_offset(found[7])).timestamp(), now, zone)
    return ahead(_on(wall, zone), now, zone)


def of_words(said: Said, now: float, zone: ZoneInfo) -> float:
    """The instant that ``said`` means.

    Raises:
        ScheduleError: there is none, or it is past.
    """
    if not said.times:
        raise ScheduleError("at what time?", f"{_said_day(said)} at {NINE}")
    time = said.times[0]
    today = shown(now, zone).date()
    days = (
        [today + timedelta(days=1)] if said.day == "tomorrow" else [today + timedelta(days=ahead) for ahead in range(9)]
    )
    if said.day == "today":
        days = days[:1]
    if said.days:
        days = [
            day for day in days if (day.weekday() + 1) % 7 == said.days[0] and (day > today or said.coming != "next")
        ]
    for day in days:
        t = _on(datetime(day.year, day.month, day.day, time.hour, time.minute), zone)
        if t > now:
            return t
    raise ScheduleError(f"{time} today has passed", f"tomorrow at {time}")


def ahead(t: float, now: float, zone: ZoneInfo) -> float:
    """``t``, if it is still to come.

    Raises:
        ScheduleError: it is past, or more than `YEARS` ahead.
    """
    if t <= now:
        wall = shown(t, zone)
        raise ScheduleError(f"{wall:%Y-%m-%d %H:%M} has passed", f"tomorrow at {wall:%H:%M}")
    if t > now + YEARS * 366 * 86_400:
        raise ScheduleError(f"that is more than {YEARS} years ahead", "in 52 weeks")
    return t


def _on(wall: datetime, zone: ZoneInfo) -> float:
    if not passes(wall, zone):
        instead = shown(jump(wall, zone), zone)
        raise ScheduleError(
            f"{wall:%Y-%m-%d %H:%M} is a time that clocks in {zone.key} jump over", f"{instead:%Y-%m-%d %H:%M}"
        )
    return first(wall, zone)


def _said_day(said: Said) -> str:
    return said.day or (DAY_NAMES[said.days[0]] if said.days else "tomorrow")


def _offset(text: str) -> timezone:
    if text == "z":
        return UTC
    size = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-size if text[0] == "-" else size)
