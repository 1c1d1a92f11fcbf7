"""What clocks in a time zone show at an instant, and at which instants they show a time: never in the gap of spring,
twice in the fold of autumn. Instants are seconds since 1970-01-01 UTC, times on a clock naive datetimes.
"""

from __future__ import annotations

from bisect import bisect
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo


def shown(t: float, zone: ZoneInfo) -> datetime:
    """What clocks show at ``t``; its ``fold`` is 1 where they show it for the second time."""
    return datetime.fromtimestamp(t, zone).replace(tzinfo=None)


def passes(wall: datetime, zone: ZoneInfo) -> tuple[float, ...]:
    """When clocks show ``wall``: not at all, once, or twice."""
    one, two = (wall.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    if one == two:
        return (one,)
    return (one, two) if one < two else ()


def reached(wall: datetime, zone: ZoneInfo) -> float:
    """When clocks first show ``wall``; where they jump over it, when they jump."""
    times = passes(wall, zone)
    return times[0] if times else jump(wall, zone)


def jump(wall: datetime, zone: ZoneInfo) -> float:
    """The instant at which clocks jump over ``wall``, which they never show."""
    until, since = (int(wall.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    seconds = range(since, until + 1)
    return float(seconds[bisect(seconds, _ahead(since, zone), key=lambda t: _ahead(t, zone))])


def _ahead(t: float, zone: ZoneInfo) -> timedelta:
    """By how much clocks are ahead of UTC."""
    return datetime.fromtimestamp(t, zone).utcoffset() or timedelta()


def month_end(year: int, month: int) -> date:
    """The last day of a month."""
    return date(year, month + 1, 1) - timedelta(days=1) if month < 12 else date(year, 12, 31)
