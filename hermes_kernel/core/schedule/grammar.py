"""What a person's text says of when, and the text that says it for good: `parse` of a `text` is what was written.

Total: any text is a schedule or a `ScheduleError`, which proposes nothing that is not valid itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

from hermes_kernel.core.schedule import cronline, durations
from hermes_kernel.core.schedule.once import YEARS, instant
from hermes_kernel.core.schedule.recurring import ALONE, cron_line, recurs
from hermes_kernel.core.schedule.spelling import closest, quoted
from hermes_kernel.core.schedule.when import SHORTEST, At, Cron, Every, ScheduleError, Timed, When
from hermes_kernel.core.schedule.words import said
from hermes_kernel.core.schedule.zones import known, named_apart

LONGEST = 200
"""Characters of a text; a schedule is a line."""

FORMS = ("every monday at 09:00", "in 30m")
"""What is proposed where nothing is nearer."""

_UTC = "%Y-%m-%dT%H:%M:%SZ"
_FARTHEST = YEARS * 366 * durations.DAY
_TYPED = str.maketrans({"–": "-", "—": "-", "’": "'"})


def parse(text: str, *, now: float, zone: str) -> Timed:
    """What ``text`` says at the instant ``now``, by clocks in ``zone`` unless it names another.

    Raises:
        ScheduleError: it is no schedule, its time is past, or it never comes.
    """
    home = known(zone)
    try:
        return _parsed(text, now, home)
    except ScheduleError as error:
        raise ScheduleError(error.what, *(tuple(islice(_valid(error.near, now, home), 2)) or FORMS)) from None


@lru_cache(1024)  # a tick reads every job's schedule anew
def stored(schedule: str, zone: str) -> Timed:
    """What `text` wrote. The past is no error.

    Raises:
        ScheduleError: it was not written by `text`, or this machine knows no such zone.
    """
    known(zone)
    try:
        return Timed(At(datetime.strptime(schedule, _UTC).replace(tzinfo=UTC).timestamp()), zone)
    except ValueError:
        span = durations.seconds(schedule.removeprefix("every ")) if schedule.startswith("every ") else None
        return Timed(Cron(cronline.canonical(schedule.lower())) if span is None else _interval(span, schedule), zone)


def text(when: When) -> str:
    """The text that means ``when``: a time in UTC, ``every 1h30m``, or a cron line."""
    match when:
        case At(t):
            return datetime.fromtimestamp(t, UTC).strftime(_UTC)
        case Every(seconds):
            return f"every {durations.short(seconds)}"
        case Cron(line):
            return line


def _parsed(text: str, now: float, home: str) -> Timed:
    line, zone = named_apart(_plain(text))
    zone = zone or home
    try:
        return Timed(_when(line, now, ZoneInfo(zone)), zone)
    except ScheduleError as error:
        near = error.near if zone == home else (f"{each} {zone}" for each in error.near)
        raise ScheduleError(error.what, *near) from None


def _valid(near: tuple[str, ...], now: float, home: str) -> Iterator[str]:
    for each in dict.fromkeys(near):
        try:
            _parsed(each, now, home)
        except ScheduleError:
            continue
        yield each


def _plain(text: str) -> str:
    """``text`` in lower case, its spaces single, without a full stop at its end."""
    if len(text) > LONGEST:
        raise ScheduleError(f"a schedule of {len(text):,} characters: {LONGEST} at most")
    line = " ".join(text.translate(_TYPED).split()).lower().rstrip(".;, ")
    if not line:
        raise ScheduleError("an empty schedule")
    if not (line.isascii() and line.isprintable()):
        raise ScheduleError(f"{quoted(text)}: only the letters a to z, the digits 0 to 9 and punctuation")
    return line


def _when(line: str, now: float, zone: ZoneInfo) -> When:
    """What a text without a zone says: tried from what can be nothing else to what may be anything."""
    if line.startswith("@"):
        return Cron(_macro(line))
    if cronline.looks(line):
        return Cron(cronline.canonical(line))
    if interval := _every(line):
        return interval
    if (span := durations.seconds(_without_in(line))) is not None:
        return _later(span, now)
    if line in ALONE:
        return Cron(ALONE[line])
    words = said(line)
    return Cron(cronline.canonical(cron_line(words).lower())) if recurs(words) else At(instant(words, now, zone))


def _macro(line: str) -> str:
    if line in cronline.MACROS:
        return cronline.MACROS[line]
    near = closest(line, cronline.MACROS) or line.removeprefix("@")
    raise ScheduleError(f"{quoted(line)} is none of {', '.join(cronline.MACROS)}", near, "@daily")


def _every(line: str) -> Every | None:
    """``every 2h``; refused where more is said, such as on which days, which no interval knows."""
    begun = re.fullmatch(r"(?:every|each) (.+)", line)
    if not begun:
        return None
    if begun[1] in ("minute", "hour", "day", "week"):
        return Every(durations.leading(f"1 {begun[1]}")[0] or 0)
    span, rest = durations.leading(begun[1])
    if span is None:
        return None
    if rest:
        short, days = durations.short(span), rest.removeprefix("on ")
        what = f"an interval of {durations.spelt(span)} is counted from when it is set, and knows no {quoted(rest)}"
        raise ScheduleError(what, f"every {short}", f"every {days}", f"every day {rest}")
    return _interval(span, line)


def _interval(span: int, line: str) -> Every:
    if span < SHORTEST:
        raise ScheduleError(f"{line} is too often: at most once in {SHORTEST} seconds", "every 1m")
    if span > _FARTHEST:
        raise ScheduleError(f"an interval of more than {YEARS} years", "every 52w")
    return Every(span)


def _without_in(line: str) -> str:
    return re.sub(r"^(?:in|after) | (?:from now|later)$", "", line)


def _later(span: int, now: float) -> At:
    if span == 0:
        raise ScheduleError("that is now, and a schedule is for later", "in 1m")
    if span > _FARTHEST:
        raise ScheduleError(f"more than {YEARS} years ahead", "in 52w")
    return At(float(math.ceil(now) + span))
