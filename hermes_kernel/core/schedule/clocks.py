"""What clocks in a time zone show at an instant, and at which instants they show a time: never in the gap of spring,
twice in the fold of autumn. Instants are seconds since 1970-01-01 UTC, times on a clock naive datetimes.
"""

from __future__ import annotations

from bisect import bisect
from datetime import datetime
from zoneinfo import ZoneInfo


def shown(t: float, zone: ZoneInfo) -> datetime:
    """What clocks show at ``t``; ``fold`` is kept, and says that it is the second time they do."""
    return datetime.fromtimestamp(t, zone).replace(tzinfo=None)


def passes(wall: datetime, zone: ZoneInfo) -> tuple[float, ...]:
    """When clocks show ``wall``: not at all, once, or twice."""
    one, two = (wall.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    if one == two:
        return (one,)
    return (one, two) if one < two else ()


def first(wall: datetime, zone: ZoneInfo) -> float:
    """When clocks first show ``wall``; where they jump over it, when they jump."""
    return next(iter(passes(wall, zone)), None) or jump(wall, zone)


def jump(wall: datetime, zone: ZoneInfo) -> float:
    """The instant at which clocks jump over ``wall``, which they never show."""
    until, since = (int(wall.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    seconds = range(since, until + 1)
    return float(seconds[bisect(seconds, _offset(since, zone), key=lambda t: _offset(t, zone))])


def _offset(t: float, zone: ZoneInfo) -> float:
    moved = datetime.fromtimestamp(t, zone).utcoffset()
    return moved.total_seconds() if moved else 0.0
