"""A schedule in words: what was understood, and when that is."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from hermes_kernel.core.schedule.durations import spelt
from hermes_kernel.core.schedule.when import At, Cron, Every, Timed


def sentence(timed: Timed) -> str:
    """What ``timed`` means, on one line."""
    match timed.when:
        case At(t):
            return f"once, on {_day(t, timed.zone)} ({timed.zone})"
        case Every(seconds):
            return f"every {spelt(seconds)}"
        case Cron(line):
            return f"cron {line} ({timed.zone})"


def moment(t: float, zone: str) -> str:
    """``t`` as clocks in ``zone`` show it: ``Mon 7 Dec 2026 09:00 CET``."""
    at = datetime.fromtimestamp(t, ZoneInfo(zone))
    return f"{at:%a} {at.day} {at:%b %Y %H:%M %Z}"


def _day(t: float, zone: str) -> str:
    at = datetime.fromtimestamp(t, ZoneInfo(zone))
    return f"{at:%a} {at.day} {at:%b %Y} at {at:%H:%M}"
