"""What a person's text says of when, and the text that says it for good: `parse` of a `text` is what was written.

Total: any text is a schedule or a `ScheduleError`, which proposes nothing that is not valid itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hermes_kernel.core.schedule import durations
from hermes_kernel.core.schedule.cronline import MACROS, canonical
from hermes_kernel.core.schedule.once import YEARS, ahead, iso, of_iso, of_words
from hermes_kernel.core.schedule.recurring import cron_line
from hermes_kernel.core.schedule.spelling import closest, quoted
from hermes_kernel.core.schedule.when import SHORTEST, At, Cron, Every, ScheduleError, Timed, When
from hermes_kernel.core.schedule.words import said
from hermes_kernel.core.schedule.zones import zone_named, zones_near

LONGEST = 200
"""Characters of a text; a schedule is a line."""

_FORMS = ("every day at 09:00", "in 30m", "0 9 * * 1-5")
_ZONED = re.compile(r"(?:cron_)?tz\s*=\s*[\"':]*([\w/+-]+)[\"']?\s+(.*)", re.ASCII)
_ZONE = re.compile(r"(.*\S)\s+(?:in\s+)?\(?([a-z][a-z0-9_+-]*(?:/[a-z0-9_+-]+)*)\)?", re.ASCII)
_IN = re.compile(r"(.*\S)\s+in\s+([a-z][a-z _/-]+)", re.ASCII)
_CRON = re.compile(r"[0-9*?][0-9*?,/-]*|[a-z0-9]+(?:[-,#/][a-z0-9]+)+")


def parse(text: str, *, now: float, zone: str) -> Timed:
    """What ``text`` says at the instant ``now``, by clocks in ``zone`` unless it names another.

    Raises:
        ScheduleError: it is no schedule, its time is past, or it never comes.
    """
    line = _plain(text)
    try:
        body, named = _zone_apart(line)
        return Timed(_when(body, now, ZoneInfo(named or _sure(zone))), named or _sure(zone))
    except ScheduleError as error:
        raise ScheduleError(error.what, *_valid(error.near, line, now, zone)) from None


def stored(schedule: str, zone: str) -> Timed:
    """What `text` wrote. The past is no error.

    Raises:
        ScheduleError: it was not written by `text`.
    """
    try:
        return Timed(At(datetime.strptime(schedule, _UTC).replace(tzinfo=UTC).timestamp()), zone)
    except ValueError:
        return Timed(_again(schedule.lower()), zone)


_UTC = "%Y-%m-%dT%H:%M:%SZ"


def text(when: When) -> str:
    """The text that means ``when``: a time in UTC, ``every 1h30m``, or a cron line."""
    match when:
        case At(t):
            return datetime.fromtimestamp(t, UTC).strftime(_UTC)
        case Every(seconds):
            return f"every {durations.short(seconds)}"
        case Cron(line):
            return line


def _again(line: str) -> When:
    span = durations.seconds(line.removeprefix("every")) if line.startswith("every") else None
    return Cron(canonical(line)) if span is None else Every(span)


def _plain(text: str) -> str:
    """``text`` in lower case, its spaces single, without a full stop."""
    if len(text) > LONGEST:
        raise ScheduleError(f"a schedule of {len(text):,} characters: {LONGEST} at most", *_FORMS)
    line = " ".join(text.split()).lower().removesuffix(".").strip()
    if not line:
        raise ScheduleError("an empty schedule", *_FORMS)
    if not line.isascii() or not line.isprintable():
        raise ScheduleError(f"{quoted(text)}: a schedule has plain letters, digits and punctuation only", *_FORMS)
    return re.sub(r"\s*,[\s,]*", ", ", line)


def _zone_apart(line: str) -> tuple[str, str]:
    """The text without a zone, and the zone it names, if it does."""
    if set_ := _ZONED.fullmatch(line):
        if not zone_named(set_[1]):
            raise _unknown_zone(set_[1], set_[2])
        return set_[2], zone_named(set_[1])
    if (last := _ZONE.fullmatch(line)) and (name := zone_named(last[2])):
        return last[1], name
    if last and "/" in last[2] and not _CRON.fullmatch(last[2]):
        raise _unknown_zone(last[2], last[1])
    if (named := _IN.fullmatch(line)) and not said_month(named[2]):
        raise _unknown_zone(named[2], named[1])
    return line, ""


def said_month(words: str) -> bool:
    """It is no place: ``in january``."""
    try:
        return bool(said(words).months)
    except ScheduleError:
        return False


def _unknown_zone(name: str, rest: str) -> ScheduleError:
    return ScheduleError(f"{quoted(name)} is no time zone", *(f"{rest} {near}" for near in zones_near(name)))


def _sure(zone: str) -> str:
    if not (name := zone_named(zone)):
        raise ScheduleError(f"{quoted(zone)} is no time zone; such as Europe/Zurich or UTC are")
    return name


def _when(line: str, now: float, zone: ZoneInfo) -> When:
    if line.startswith("@"):
        return _macro(line)
    if _is_cron(line):
        return Cron(canonical(line.replace(", ", ",")))
    if found := iso(line):
        return At(of_iso(found, now, zone))
    if line.startswith("every ") and (span := durations.seconds(line[6:])) is not None:
        return _interval(span)
    bare = line.removeprefix("in ").removesuffix(" from now")
    if (span := durations.seconds(bare)) is not None:
        return _later(span, now, bare)
    words = said(line)
    if words.again or words.dates or words.ordinals or len(words.days) > 1:
        return Cron(
            canonical(
                cron_line(words, adverb=line in ("hourly", "daily", "weekly", "monthly", "yearly", "annually")).lower()
            )
        )
    return At(of_words(words, now, zone))


def _is_cron(line: str) -> bool:
    fields = line.replace(", ", ",").split()
    return "*" in line or (len(fields) > 4 and all(_CRON.fullmatch(field) for field in fields[:3]))


def _macro(line: str) -> Cron:
    if line in MACROS:
        return Cron(MACROS[line])
    near = closest(line, MACROS)
    raise ScheduleError(
        f"{quoted(line)} is no time that comes again; {', '.join(MACROS)} are", *([near] if near else ["@daily"])
    )


def _interval(span: int) -> Every:
    if span < SHORTEST:
        raise ScheduleError(f"every {durations.short(span)} is too often: {SHORTEST} seconds at least", "every 1m")
    if span > YEARS * 366 * durations.DAY:
        raise ScheduleError(f"that is more than {YEARS} years", "every 52w")
    return Every(span)


def _later(span: int, now: float, written: str) -> At:
    if span == 0:
        raise ScheduleError(f"{quoted(written)} is now", "in 1m")
    if span > YEARS * 366 * durations.DAY:
        raise ScheduleError(f"that is more than {YEARS} years ahead", "in 52w")
    return At(float(math.ceil(now) + span))


def _valid(near: tuple[str, ...], line: str, now: float, zone: str) -> Iterator[str]:
    """Those of ``near`` that are valid themselves, or some that always are."""
    for each in near:
        try:
            body, named = _zone_apart(each)
            _when(body, now, ZoneInfo(named or _sure(zone)))
        except ScheduleError:
            continue
        yield each


_ = ahead
