"""The words of a schedule, each put where it belongs: which days, which dates, what time. In any order; whatever is no
word of a schedule is refused by name, so that nothing a person wrote is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from hermes_kernel.core.schedule.spelling import closest, quoted
from hermes_kernel.core.schedule.when import ScheduleError

LAST = 0
"""The ordinal of the last, as in ``last friday``."""

DAY_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
ORDINALS = ("last", "first", "second", "third", "fourth", "fifth")

_DAYS = {
    **{name: at for at, name in enumerate(DAY_NAMES)},
    **{name[:3]: at for at, name in enumerate(DAY_NAMES)},
    "tues": 2, "wednes": 3, "thur": 4, "thurs": 4,
}  # fmt: skip
_MONTHS = {name[:cut]: at for at, name in enumerate(MONTH_NAMES, 1) for cut in (3, None)} | {"sept": 9}
_GROUPS = {"weekday": (1, 2, 3, 4, 5), "weekend": (6, 0), "workday": (1, 2, 3, 4, 5)}
_UNITS = ("minute", "hour", "day", "week", "month", "year")
_ADVERBS = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
}
_FILLERS = frozenset(("on", "the", "of", "in", "at", "and"))
_KNOWN = (
    *_DAYS, *_MONTHS, *_GROUPS, *_UNITS, *_ADVERBS, *ORDINALS, *_FILLERS, "every", "each", "next", "this", "today",
    "tomorrow", "noon", "midnight", "other", "to", "through",
)  # fmt: skip

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<past>(?:at\s+)?:(?P<past_minute>[0-9]{2}))
    | (?P<time>(?:at\s+)?(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-9]{2}))?(?::(?P<second>[0-9]{2}))?
        \s*(?P<half>[ap]\.?m\b\.?)
      | (?:at\s+)?(?P<hour24>[0-9]{1,2})[:](?P<minute24>[0-9]{2})(?::(?P<second24>[0-9]{2}))?
      | at\s+(?P<bare>[0-9]{1,2})(?:\s*o['’]?clock)?(?![0-9a-z:/-]))
    | (?P<ordinal>(?P<nth>[0-9]{1,3})(?:st|nd|rd|th))(?![a-z0-9])
    | (?P<number>[0-9]{1,6})(?![0-9a-z])
    | (?P<word>[a-z]+(?:'s)?)
    | (?P<joint>,|&|-)
    | (?P<other>\S+) )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Time:
    """A time of the day on a clock."""

    hour: int
    minute: int

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}"


@dataclass(frozen=True, slots=True)
class Said:
    """What the words say. ``nth`` are pairs of an ordinal and a day of the week; days of the week count from Sunday, 0.
    ``unit`` is the one after ``every``; ``past`` minutes of each hour. ``numbers`` and ``ordinals`` have found no place
    yet. ``again``: it says that it is not for once."""

    again: bool = False
    unit: str = ""
    days: tuple[int, ...] = ()
    nth: tuple[tuple[int, int], ...] = ()
    dates: tuple[str, ...] = ()
    months: tuple[int, ...] = ()
    times: tuple[Time, ...] = ()
    past: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    ordinals: tuple[int, ...] = ()
    day: str = ""
    coming: str = ""
    span: bool = False
    other: bool = False
    before: str = ""


def said(text: str) -> Said:
    """What the lower-case ``text`` says.

    Raises:
        ScheduleError: there is something in it that is no part of a schedule.
    """
    found = Said()
    for token in _TOKEN.finditer(text):
        found = replace(_with(found, token), before=token[0].strip())
    return found


def _with(so_far: Said, token: re.Match[str]) -> Said:
    match token.lastgroup:
        case _ if token["past"]:
            return replace(so_far, past=(*so_far.past, _minute(token["past_minute"])))
        case _ if token["time"]:
            return replace(so_far, times=(*so_far.times, _time(token)))
        case _ if token["ordinal"]:
            return replace(so_far, ordinals=(*so_far.ordinals, int(token["nth"])))
        case _ if token["number"]:
            return _with_number(so_far, int(token["number"]))
        case _ if token["joint"]:
            return replace(so_far, span=True) if token["joint"] == "-" else so_far
        case _ if token["word"]:
            return _with_word(so_far, token["word"])
        case _:
            raise ScheduleError(f"{quoted(token['other'])} is no part of a schedule")


def _with_number(so_far: Said, number: int) -> Said:
    if so_far.times and so_far.before in (",", "and", "&") and number < 24:
        return replace(so_far, times=(*so_far.times, Time(number, 0)))
    return replace(so_far, numbers=(*so_far.numbers, number))


def _with_word(so_far: Said, word: str) -> Said:
    single = word.removesuffix("s")
    if word in _DAYS or (single in DAY_NAMES):
        return _with_day(so_far, _DAYS[word if word in _DAYS else single], again=word not in _DAYS)
    if word in _MONTHS:
        return replace(so_far, months=(*so_far.months, _MONTHS[word]))
    if single in _GROUPS:
        return _with_group(so_far, single)
    if word in ("noon", "midnight"):
        return replace(so_far, times=(*so_far.times, Time(12 if word == "noon" else 0, 0)))
    if word in ORDINALS:
        return replace(so_far, ordinals=(*so_far.ordinals, ORDINALS.index(word)))
    return _with_particle(so_far, word, single)


def _with_particle(so_far: Said, word: str, single: str) -> Said:
    if word in _FILLERS:
        return so_far
    if word in ("every", "each"):
        return replace(so_far, again=True)
    if word in _ADVERBS:
        return replace(so_far, again=True, unit=_ADVERBS[word])
    if single in _UNITS:
        return _with_unit(so_far, single)
    if word in ("today", "tomorrow"):
        return replace(so_far, day=word)
    if word in ("next", "this"):
        return replace(so_far, coming=word)
    if word in ("to", "through", "other"):
        return replace(so_far, other=True) if word == "other" else replace(so_far, span=True)
    raise _unknown(word)


def _with_day(so_far: Said, day: int, *, again: bool) -> Said:
    again = again or so_far.again
    if so_far.ordinals:
        pairs = tuple((nth, day) for nth in so_far.ordinals)
        return replace(so_far, nth=(*so_far.nth, *pairs), ordinals=(), again=True)
    if so_far.span and so_far.days:
        start = so_far.days[-1]
        between = tuple((start + step) % 7 for step in range(1, (day - start) % 7 + 1))
        return replace(so_far, days=(*so_far.days, *between), span=False, again=again)
    return replace(so_far, days=(*so_far.days, day), again=again)


def _with_group(so_far: Said, group: str) -> Said:
    if so_far.ordinals == (LAST,) and group != "weekend":
        return replace(so_far, dates=(*so_far.dates, "LW"), ordinals=(), again=True)
    return replace(so_far, days=(*so_far.days, *_GROUPS[group]), again=True)


def _with_unit(so_far: Said, unit: str) -> Said:
    if unit == "day" and LAST in so_far.ordinals:
        dates = tuple("L" if each == LAST else str(each) for each in so_far.ordinals)
        return replace(so_far, dates=(*so_far.dates, *dates), ordinals=(), again=True)
    if unit == "month" and so_far.unit in ("", "month"):
        return replace(so_far, unit="month")
    return replace(so_far, unit=so_far.unit or unit)


def _minute(text: str) -> int:
    if int(text) > 59:
        raise ScheduleError(f":{text} is no minute of an hour: 00 to 59", "every hour at :59")
    return int(text)


def _time(token: re.Match[str]) -> Time:
    hour = int(token["hour"] or token["hour24"] or token["bare"])
    minute = int(token["minute"] or token["minute24"] or 0)
    second = int(token["second"] or token["second24"] or 0)
    written = token["time"].removeprefix("at").strip()
    if token["half"]:
        if not 1 <= hour <= 12:
            raise ScheduleError(
                f"{quoted(written)} is no time: before am and pm stands 1 to 12", f"at {hour % 24:02}:{minute % 60:02}"
            )
        hour = hour % 12 + (12 if token["half"].startswith("p") else 0)
    if hour > 23 or minute > 59:
        raise ScheduleError(f"{quoted(written)} is no time: 00:00 to 23:59", f"at {hour % 24:02}:{min(minute, 59):02}")
    if second:
        raise ScheduleError(f"{quoted(written)}: seconds are not kept", f"at {hour:02}:{minute:02}")
    return Time(hour, minute)


def _unknown(word: str) -> ScheduleError:
    near = closest(word, _KNOWN)
    return ScheduleError(f"{quoted(word)} is no word of a schedule" + (f"; {near}?" if near else ""))
