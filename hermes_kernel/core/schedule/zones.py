"""Time zones by their IANA names, in whatever case; and the names that are most like one that is none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from zoneinfo import available_timezones

from hermes_kernel.core.schedule.spelling import closest

_HERE_ONLY = frozenset(("localtime", "Factory"))  # each machine has its own, or none


@cache
def _names() -> Mapping[str, str]:
    return MappingProxyType({name.lower(): name for name in sorted(available_timezones() - _HERE_ONLY)})


def zone_named(name: str) -> str:
    """The zone's name as IANA writes it; empty where there is none."""
    return _names().get(name.lower().replace(" ", "_"), "")


def zones_near(name: str) -> tuple[str, ...]:
    """The names that are most like ``name``, which is none: those of that city, or the closest one."""
    wanted = name.lower().replace(" ", "_")
    cities = [full for lower, full in _names().items() if lower.rpartition("/")[2] == wanted.rpartition("/")[2]]
    close = closest(wanted, _names()) or closest(wanted, [each.rpartition("/")[2] for each in _names()])
    found = cities or [full for lower, full in _names().items() if close and lower.endswith(close)]
    return tuple(found[:3])
