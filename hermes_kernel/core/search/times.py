"""The moments a person names in a search: a day, a year, three hours ago. Knows no clock: now is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from hermes_kernel.core.text import brief

FORMS = "2026, 2026-11, 2026-11-30, 2026-11-30T18:00, 7d, 12h, 30m, 2w, today or yesterday"

_AGO = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_DATE = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[t ](\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)


class TimeError(ValueError):
    """Text that names no moment; the message has the forms that do."""


def moment(text: str, now: float, zone: tzinfo) -> float:
    """When what ``text`` names begins, in seconds since 1970-01-01 UTC: a year, a month, a day or a minute on a clock
    in ``zone``, or so many minutes, hours, days or weeks before ``now``.

    Raises:
        TimeError: it names none.
    """
    text = text.strip().lower()
    if ago := _AGO.fullmatch(text):
        return now - int(ago[1]) * _SECONDS[ago[2]]
    if text in {"today", "yesterday"}:
        midnight = datetime.fromtimestamp(now, zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        return (midnight - timedelta(days=text == "yesterday")).timestamp()
    if date := _DATE.fullmatch(text):
        try:
            return _on(date, zone).timestamp()
        except (ValueError, OverflowError):
            pass  # a thirteenth month, or a day before the first year: no moment either
    raise TimeError(f"{brief(text, 40)!r} is no time; give {FORMS}")


def _on(date: re.Match[str], zone: tzinfo) -> datetime:
    year, month, day, hour, minute, second = (int(part) if part else None for part in date.groups()[:6])
    return datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=_offset(date[7], zone))


def _offset(text: str | None, zone: tzinfo) -> tzinfo:
    if text is None:
        return zone
    if text == "z":
        return UTC
    size = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-size if text[0] == "-" else size)
