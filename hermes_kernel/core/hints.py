"""How long a server asks to wait, in whichever place and unit it says so. Nonsense is no hint.

Order: ``retry-after-ms``, ``retry-after`` (seconds or HTTP date), ``x-ratelimit-reset-*`` of what is used up, the body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST_SECONDS = 7 * 24 * 3600.0
"""Hints beyond a week are taken for mistakes."""

_GO = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s|d)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DELAY = re.compile(r'"retryDelay"\s*:\s*"([^"]{1,40})"')
_AGAIN = re.compile(
    r"(?:try again|retry|available again|resets?|wait)(?:ing)?(?: again)?(?: after| in| for| at least)? (?:about )?"
    r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|min(?:ute)?s?|m|h(?:ou)?rs?|h|sec(?:ond)?s?|s|days?|d)(?![a-z])"
    r"[\s,]*(?:and )?)+)",
    re.IGNORECASE,
)
_SPOKEN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|milli|m|h|s|d)", re.IGNORECASE)
_BARE = re.compile(r"retry.?after[\"']?[\s:=]+[\"']?(\d+(?:\.\d+)?)", re.IGNORECASE)


def wait_hint(headers: Mapping[str, str], body: str, now: float) -> float | None:
    """Seconds to wait, or None where nothing sensible is said. Header names are in lower case; `now` is Unix time."""
    now = there(headers, now)
    candidates = (
        _scaled(headers.get("retry-after-ms", ""), 0.001),
        _retry_after(headers.get("retry-after", ""), now),
        used_up(headers, now),
        _in_body(body),
    )
    return next((seconds for seconds in candidates if seconds is not None), None)


def used_up(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a limit whose remainder is 0 is renewed, the longest of them; None if none is used up."""
    now = there(headers, now)
    waits = []
    for name, value in headers.items():
        if name.startswith("x-ratelimit-remaining") and value.strip() in ("0", "0.0"):
            reset = headers.get(name.replace("remaining", "reset"), "")
            waits.append(duration(reset, now))
    known = [seconds for seconds in waits if seconds is not None]
    return max(known) if known else None


def duration(text: str, now: float) -> float | None:
    """Seconds of a Go duration (``6m0s``, ``20ms``), a number of seconds, or an instant (seconds or milliseconds)."""
    text = text.strip()
    parts = _GO.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return _sane(sum(float(number) * _UNITS[unit] for number, unit in parts))
    number = _scaled(text, 1.0, bounded=False)
    if number is None:
        return None
    if number > 1e12:
        return _sane(number / 1000 - now)
    return _sane(number - now) if number > 1e9 else _sane(number)


def _retry_after(value: str, now: float) -> float | None:
    seconds = _scaled(value, 1.0)
    if seconds is not None or not value.strip():
        return seconds
    date = _date(value)
    return duration(value, now) if date is None else _sane(max(date - now, 0.0))


def there(headers: Mapping[str, str], now: float) -> float:
    """What the server takes for the present, where it says so: an instant that it names is one of its own clock."""
    date = _date(headers.get("date", ""))
    return now if date is None else date


def _date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _in_body(body: str) -> float | None:
    if delay := _DELAY.search(body):
        return duration(delay.group(1), 0.0)
    if again := _AGAIN.search(body):
        parts = _SPOKEN.findall(again.group(1))
        return _sane(sum(float(number) * _spoken_unit(unit) for number, unit in parts))
    bare = _BARE.search(body)
    return _scaled(bare.group(1), 1.0) if bare else None


def _spoken_unit(unit: str) -> float:
    return _UNITS["ms" if unit.lower() == "milli" else unit.lower()]


def _scaled(value: str, scale: float, *, bounded: bool = True) -> float | None:
    try:
        number = float(value) * scale
    except ValueError:
        return None
    return _sane(number) if bounded else number


def _sane(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= LONGEST_SECONDS else None
