"""Spans of time in words: ``90m``, ``1h30m``, ``2 weeks``, ``an hour and a half``; and back, in the shortest form."""

from __future__ import annotations

import re

WEEK, DAY, HOUR, MINUTE = 604_800, 86_400, 3_600, 60

_UNITS = {
    WEEK: ("w", "wk", "wks", "week", "weeks"),
    DAY: ("d", "day", "days"),
    HOUR: ("h", "hr", "hrs", "hour", "hours"),
    MINUTE: ("m", "min", "mins", "minute", "minutes"),
    1: ("s", "sec", "secs", "second", "seconds"),
}
_SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names}
_NUMBERS = dict(
    zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)
)
_PART = re.compile(
    rf"\s*(?:and |, ?)?\s*([0-9]{{1,12}}|an?|{'|'.join(_NUMBERS)})?\s*({'|'.join(sorted(_SECONDS, key=len, reverse=True))})(?![a-z])"
)


def seconds(text: str) -> int | None:
    """How many seconds the lower-case ``text`` is; None where it is no span of time."""
    total, at = 0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if not part:
            return None
        total += _count(part[1]) * _SECONDS[part[2]]
        at = part.end()
    return total if at else None


def _count(text: str | None) -> int:
    return int(text) if text and text.isdigit() else _NUMBERS.get(text or "", 1)


def short(seconds: int) -> str:
    """``1h30m``, ``2w``, ``1d12h``."""
    parts = []
    for unit, names in _UNITS.items():
        many, seconds = divmod(seconds, unit)
        parts += [f"{many}{names[0]}"] if many else []
    return "".join(parts) or "0s"


def spelt(seconds: int) -> str:
    """``1 hour and 30 minutes``, ``2 weeks``; ``hour`` for one alone."""
    parts = []
    for unit, names in _UNITS.items():
        many, seconds = divmod(seconds, unit)
        parts += [f"{many} {names[-1] if many > 1 else names[-2]}"] if many else []
    said = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
    return said.removeprefix("1 ") if len(parts) == 1 else said
