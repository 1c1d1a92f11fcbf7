"""Time zones by their IANA names, in whatever case; and the names that are most like one that is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, tzinfo
from functools import cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from hermes_kernel.core.schedule.lexicon import WORDS
from hermes_kernel.core.schedule.spelling import closest, quoted
from hermes_kernel.core.schedule.when import ScheduleError

_HERE_ONLY = frozenset(("localtime", "Factory"))  # each machine has its own, or none

# What people write and no zone is called; the largest city that does.
_SPOKEN = {
    "pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "pt": "America/Los_Angeles", "mdt": "America/Denver",
    "cst": "America/Chicago", "cdt": "America/Chicago", "edt": "America/New_York", "et": "America/New_York",
    "bst": "Europe/London", "cest": "Europe/Berlin", "eest": "Europe/Athens", "msk": "Europe/Moscow",
    "ist": "Asia/Kolkata", "jst": "Asia/Tokyo", "kst": "Asia/Seoul", "sgt": "Asia/Singapore", "hkt": "Asia/Hong_Kong",
    "aest": "Australia/Sydney", "aedt": "Australia/Sydney", "nzst": "Pacific/Auckland", "nzdt": "Pacific/Auckland",
}  # fmt: skip

_NAME = r"[a-z][a-z0-9_+-]*(?:/[a-z0-9_+-]+)*"
_SET = re.compile(r"(?:cron_)?tz\s*=\s*[\"':]*([^\s\"']+)[\"']?\s+(.+)")
_LAST = re.compile(rf"(?P<rest>.*?\S)\s+(?P<place>in\s+)?\(?(?P<name>{_NAME})\)?")
_PLACE = re.compile(r"(?P<rest>.*\S)\s+in\s+(?P<name>(?!the |an? )[a-z][a-z_-]*(?: [a-z_-]+)+)")
_OFFSET = re.compile(r"(?:utc|gmt)([+-])0?([0-9]{1,2})(?::?00)?")
_TIMES = frozenset(word for word, (kind, _) in WORDS.items() if kind in ("month", "unit", "group", "day"))
"""What may follow ``in`` and is no place."""


@cache
def _names() -> Mapping[str, str]:
    return MappingProxyType({name.lower(): name for name in sorted(available_timezones() - _HERE_ONLY)})


def zone_named(name: str) -> str:
    """The zone's name as IANA writes it; empty where there is none."""
    return _names().get(name.lower(), "")


def known(zone: str) -> str:
    """``zone``, if this machine knows its rules.

    Raises:
        ScheduleError: it does not.
    """
    try:
        return ZoneInfo(zone).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        near = ", ".join(zones_near(zone)) or "Europe/Zurich or UTC"
        raise ScheduleError(f"{quoted(zone)} is no time zone; {near} would be") from None


def rules(zone: str) -> tzinfo:
    """The rules of the zone of this name; where this machine knows none, those of UTC."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def zones_near(name: str) -> tuple[str, ...]:
    """The names that are most like ``name``, which is none."""
    wanted = name.lower().strip().replace(" ", "_")
    if offset := _OFFSET.fullmatch(wanted):
        return tuple(filter(None, (zone_named(f"etc/gmt{'-' if offset[1] == '+' else '+'}{offset[2]}"),)))
    if wanted in _SPOKEN:
        return (_SPOKEN[wanted],)
    city = wanted.rpartition("/")[2]
    cities = [each.rpartition("/")[2] for each in _names()]
    near = city if city in cities else closest(city, cities)
    return tuple(full for lower, full in _names().items() if near and lower.rpartition("/")[2] == near)[:3]


def named_apart(line: str) -> tuple[str, str]:
    """The lower-case ``line`` without a zone, and the zone that it names, if it does.

    Raises:
        ScheduleError: what it names is none.
    """
    if begun := _SET.fullmatch(line):
        return begun[2], _sure(begun[1], begun[2])
    if not (last := _LAST.fullmatch(line)):
        return line, ""
    if zone_named(last["name"]):
        return last["rest"], zone_named(last["name"])
    place = _PLACE.fullmatch(line)
    if place and not _TIMES & set(place["name"].split()):
        return place["rest"], _sure(place["name"], place["rest"])
    if _is_meant(last["name"]) or (last["place"] and last["name"] not in _TIMES):
        return last["rest"], _sure(last["name"], last["rest"])
    return line, ""


def _is_meant(name: str) -> bool:
    """Nothing but a zone looks like that."""
    return name in _SPOKEN or bool(_OFFSET.fullmatch(name) or re.fullmatch(r"[a-z_]{4,}/[a-z_/-]{2,}", name))


def _sure(name: str, rest: str) -> str:
    if found := zone_named(name):
        return found
    raise ScheduleError(f"{quoted(name)} is no time zone", *(f"{rest} {near}" for near in zones_near(name)))
