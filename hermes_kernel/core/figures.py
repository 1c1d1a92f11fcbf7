"""Counts and times as a person reads them, the same words wherever they are shown: a cell, a terminal, a file."""

from __future__ import annotations

from datetime import UTC, datetime


def counted(count: int, what: str) -> str:
    """``1 session``, ``2,000 sessions``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def minute(t: float) -> str:
    """Seconds since 1970-01-01 UTC as a date and a time, in UTC."""
    try:
        return f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):  # an imported time that no calendar has
        return "at an unknown time"


def span(seconds: float) -> str:
    """A length of time in its two largest units: ``3 h 10 min``."""
    left = max(int(seconds), 0)
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
