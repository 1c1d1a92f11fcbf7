"""The words of a schedule, each put where it belongs: which days, which dates, what time. In any order; whatever is no
word of a schedule is refused by name, so that nothing a person wrote is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta, timezone
from typing import NamedTuple

from hermes_kernel.core.schedule.clocks import month_end
from hermes_kernel.core.schedule.lexicon import GROUPS, LAST, WORDS
from hermes_kernel.core.schedule.spelling import Amiss, closest, quoted
from hermes_kernel.core.schedule.when import ScheduleError

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})(?:t(?=[0-9])|(?![0-9a-z]))
    | (?P<past>(?:at\s+)?:[0-9]{2})(?![0-9])
    | (?P<time>(?:at\s+)?(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?
          \s*(?P<half>[ap])\.?m\b\.?
      | (?:at\s+)?(?P<hour24>[0-9]{1,2}):(?P<minute24>[0-9]{2})(?::(?P<second24>[0-9]{2})(?:\.[0-9]{1,9})?)?(?![0-9:])
      | at\s+(?P<bare>[0-9]{1,2})(?:\s*o'?clock)?(?![0-9a-z:./-]))
    | (?P<offset>z\b|[+-][0-9]{2}:?[0-9]{2}(?![0-9]))
    | (?P<nth>[0-9]{1,3}(?:st|nd|rd|th))\b
    | (?P<number>[0-9]{1,6})(?![0-9a-z.:])
    | (?P<word>[a-z]+)
    | (?P<joint>[,&])
    | (?P<to>-)
    | (?P<stray>\S+) )""",
    re.VERBOSE,
)

_HOURS = re.compile(r"([0-9]{1,2})h([0-9]{2})?")
_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")


@dataclass(frozen=True, slots=True, order=True)
class Time:
    """A time of the day on a clock."""

    hour: int
    minute: int
    second: int = 0

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}" + (f":{self.second:02}" if self.second else "")


@dataclass(frozen=True, slots=True)
class Said:
    """What the words say. ``every`` and ``once`` say how often; ``unit`` is what is counted, ``day`` or ``month``.
    Days of the week count from Sunday, 0; ``nth`` are pairs of an ordinal and such a day; ``dates`` are days of a
    month, or ``L`` and ``LW``. ``past`` are minutes of each hour, ``relative`` is today or tomorrow, ``coming`` next or
    this. ``numbers`` and ``ordinals`` have found no place yet; ``to``: the end of a span is still to come."""

    every: bool = False
    once: bool = False
    other: bool = False
    unit: str = ""
    days: tuple[int, ...] = ()
    nth: tuple[tuple[int, int], ...] = ()
    dates: tuple[str, ...] = ()
    months: tuple[int, ...] = ()
    year: int = 0
    date: date | None = None
    times: tuple[Time, ...] = ()
    offset: timezone | None = None
    past: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    ordinals: tuple[int, ...] = ()
    relative: str = ""
    coming: str = ""
    to: bool = False


class Token(NamedTuple):
    """A word and what it is; ``before`` is the one before it."""

    kind: str
    value: int
    text: str
    before: str
    match: re.Match[str]


def said(line: str) -> Said:
    """What the lower-case ``line`` says.

    Raises:
        ScheduleError: there is something in it that is no part of a schedule.
    """
    found = Said()
    try:
        for token in _tokens(line):
            found = _FOLDS[token.kind](found, token)
    except Amiss as amiss:
        raise ScheduleError(amiss.what, *(_with(line, amiss.written, each) for each in amiss.instead)) from None
    if found.to:
        raise ScheduleError("a span of times or days without an end, or of what has none", "0 9-17 * * 1-5")
    return found


def _with(line: str, written: str, instead: str) -> str:
    return " ".join(line.replace(written, instead, 1).split())


def _tokens(line: str) -> Iterator[Token]:
    before = ""
    for match in _TOKEN.finditer(line):
        text = match[0].strip()
        kind, value = WORDS.get(text, ("unknown", 0)) if match["word"] else (match.lastgroup or "", 0)
        yield Token(_kind(match, kind), value, text, before, match)
        before = text


def _kind(match: re.Match[str], kind: str) -> str:
    return "time" if match["time"] else kind


def _day(so_far: Said, token: Token) -> Said:
    if so_far.ordinals:
        pairs = tuple((nth, token.value) for nth in so_far.ordinals)
        return replace(so_far, nth=(*so_far.nth, *pairs), ordinals=())
    if so_far.to and so_far.days:
        start = so_far.days[-1]
        between = tuple((start + step) % 7 for step in range(1, (token.value - start) % 7 + 1))
        return replace(so_far, days=(*so_far.days, *between), to=False)
    return replace(so_far, days=(*so_far.days, token.value))


def _days(so_far: Said, token: Token) -> Said:
    return replace(_day(so_far, token), every=True)


def _group(so_far: Said, token: Token) -> Said:
    """Weekdays and weekends; the last weekday of a month is a date."""
    days = GROUPS[token.value]
    if so_far.ordinals == (LAST,) and len(days) > 2:
        return replace(so_far, dates=(*so_far.dates, "LW"), ordinals=())
    if so_far.ordinals:
        raise Amiss(f"{quoted(token.text)} after an ordinal: a month has a last weekday", token.text, "monday")
    return replace(so_far, days=(*so_far.days, *days), every=True)


def _unit(so_far: Said, token: Token) -> Said:
    unit = token.text.removesuffix("s")
    if so_far.numbers:
        raise _counted(so_far, unit)
    if unit == "day" and so_far.ordinals:
        dates = tuple("L" if each == LAST else str(each) for each in so_far.ordinals)
        return replace(so_far, dates=(*so_far.dates, *dates), ordinals=())
    return replace(so_far, unit=unit if unit in ("month", "year") or not so_far.unit else so_far.unit)


def _counted(so_far: Said, unit: str) -> ScheduleError:
    many = so_far.numbers[-1]
    if so_far.once:
        what = "“once” is for once: again and again is said with “every”"
        return ScheduleError(what, f"every {unit} at 09:00", f"every {unit}", f"every {unit} on the 1st at 09:00")
    near = (f"0 9 1 */{many} *", "every january 1st at 09:00") if so_far.every else (f"in {many * 30}d", f"in {many}w")
    return ScheduleError(f"{many} {unit}{'s' * (many != 1)}: not counted, for not all are equally long", *near)


def _adverb(so_far: Said, token: Token) -> Said:
    units = ("hour", "day", "week", "month", "year")
    return replace(so_far, every=True, unit=so_far.unit or units[token.value])


def _number(so_far: Said, token: Token) -> Said:
    number = token.value or int(token.text)
    if number >= 1000:
        return replace(so_far, year=number)
    if so_far.times and token.before in (",", "and", "&") and number < 24:
        return replace(so_far, times=(*so_far.times, Time(number, 0)))
    return replace(so_far, numbers=(*so_far.numbers, number))


def _date(so_far: Said, token: Token) -> Said:
    written = token.match["date"]
    year, month, day = map(int, written.split("-"))
    try:
        return replace(so_far, date=date(year, month, day))
    except ValueError:
        month = min(max(month, 1), 12)
        days = (month_end(min(max(each, 1), 9999), month) for each in (year, year + 1))
        raise Amiss(f"{written} is no day of the calendar", written, *(each.isoformat() for each in days)) from None


def _offset(so_far: Said, token: Token) -> Said:
    sign, digits = token.text[0], token.text[1:].replace(":", "")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) if digits else timedelta()
    if size >= timedelta(days=1):
        raise Amiss(f"{quoted(token.text)} is no offset from UTC: less than a day", token.text, "z")
    return replace(so_far, offset=timezone(-size if sign == "-" else size) if digits else UTC)


def _past(so_far: Said, token: Token) -> Said:
    minute = int(token.text[-2:])
    if minute > 59:
        raise Amiss(f":{minute} is no minute of an hour: :00 to :59", token.text, "at :59")
    return replace(so_far, past=(*so_far.past, minute))


def _time(so_far: Said, token: Token) -> Said:
    found = token.match
    hour, minute, second = (int(found[name] or found[f"{name}24"] or 0) for name in ("hour", "minute", "second"))
    hour = hour or int(found["bare"] or 0)
    at, written = ("at ", token.text[3:]) if token.text.startswith("at ") else ("", token.text)
    if found["half"] and not 1 <= hour <= 12:
        raise Amiss(
            f"{quoted(written)} is no time: 1 to 12 stand before am and pm", token.text, f"{at}{hour % 24:02}:00"
        )
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] == "p")
    if hour > 23 or minute > 59 or second > 59:
        nearest = f"{at}{hour % 24:02}:{min(minute, 59):02}"
        raise Amiss(f"{quoted(written)} is no time: 00:00 to 23:59", token.text, nearest)
    return replace(so_far, times=(*so_far.times, Time(hour, minute, second)))


def _noon(so_far: Said, token: Token) -> Said:
    return replace(so_far, times=(*so_far.times, Time(token.value, 0)))


def _named(so_far: Said, token: Token) -> Said:
    return replace(so_far, **{token.kind: token.text})  # type: ignore[arg-type]  # both are texts


def _flag(so_far: Said, token: Token) -> Said:
    return replace(so_far, **{token.kind: True})  # type: ignore[arg-type]  # all are flags


def _unknown(_: Said, token: Token) -> Said:
    """What is like it could stand there, or what the rest is in want of."""
    line = token.match.string
    wanting = "day" * (token.before == "every"), "at 09:00" * (not re.search("[0-9]", line))
    rest = " ".join(filter(None, wanting)) if line.strip() != token.text else line
    raise Amiss(f"{quoted(token.text)} is no word of a schedule", token.text, closest(token.text, WORDS) or rest)


def _stray(_: Said, token: Token) -> Said:
    """Times and dates are also written as nobody reads them here."""
    instead: tuple[str, ...] = ()
    if clock := _HOURS.fullmatch(token.text):
        instead = (f"{clock[1]}:{clock[2] or '00'}",)
    elif dotted := _DOTTED.fullmatch(token.text):
        day = f"{dotted[3]}-{dotted[2]}-{dotted[1]}"
        instead = day, f"{day} at 09:00"
    raise Amiss(f"{quoted(token.text)} is no part of a schedule", token.text, *instead)


def _cron_alone(_: Said, token: Token) -> Said:
    hours = re.findall(r"\b[0-9]{1,2}\b", token.match.string[token.match.end() :])
    span = [f"0 {hours[0]}-{hours[1]} * * *"] if len(hours) == 2 else []
    raise ScheduleError(f"{quoted(token.text)} is said by a cron line alone", *span, "*/30 9-16 * * 1-5")


_FOLDS: Mapping[str, Callable[[Said, Token], Said]] = {
    "day": _day,
    "days": _days,
    "group": _group,
    "unit": _unit,
    "adverb": _adverb,
    "number": _number,
    "date": _date,
    "offset": _offset,
    "past": _past,
    "time": _time,
    "noon": _noon,
    "relative": _named,
    "coming": _named,
    "every": _flag,
    "once": _flag,
    "other": _flag,
    "to": _flag,
    "month": lambda so_far, token: replace(so_far, months=(*so_far.months, token.value)),
    "ordinal": lambda so_far, token: replace(so_far, ordinals=(*so_far.ordinals, token.value)),
    "nth": lambda so_far, token: replace(so_far, ordinals=(*so_far.ordinals, int(token.text[:-2]))),
    "joint": lambda so_far, _: so_far,
    "beyond": _cron_alone,
    "unknown": _unknown,
    "stray": _stray,
}
