"""Spans of time in words: ``90m``, ``1h30m``, ``2 weeks``, ``an hour and 5 minutes``; and the shortest."""

from __future__ import annotations

import re

MINUTE, HOUR, DAY, WEEK = 60, 3_600, 86_400, 604_800  # in seconds

_UNITS = {
    WEEK: ("w", "wk", "wks", "weeks", "week"),
    DAY: ("d", "days", "day"),
    HOUR: ("h", "hr", "hrs", "hours", "hour"),
    MINUTE: ("m", "min", "mins", "minutes", "minute"),
    1: ("s", "sec", "secs", "seconds", "second"),
}
_SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names}
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip

_COUNT = (
    rf"(?P<whole>[0-9]{{1,9}})(?:\.(?P<part>[0-9]{{1,3}}))?|(?P<word>{'|'.join(NUMBERS)})\b|(?P<half>half\b(?: an?\b)?)"
)
_PART = re.compile(rf"\s*(?:,|and\b|,\s*and\b)?\s*(?:{_COUNT})\s*(?P<unit>{'|'.join(_SECONDS)})(?![a-z])")


def leading(text: str) -> tuple[int | None, str]:
    """How many seconds the spans are with which the lower-case ``text`` begins, and the rest of it. None: it begins
    with none, or they are no whole seconds."""
    total, at = 0, 0
    while part := _PART.match(text, at):
        thousandths = _thousandths(part) * _SECONDS[part["unit"]]
        if thousandths % 1000:
            return None, text
        total, at = total + thousandths // 1000, part.end()
    return (total if at else None), text[at:].strip(" ,")


def _thousandths(part: re.Match[str]) -> int:
    if part["half"]:
        return 500
    if part["word"]:
        return NUMBERS[part["word"]] * 1000
    return int(part["whole"]) * 1000 + int((part["part"] or "").ljust(3, "0"))


def seconds(text: str) -> int | None:
    """How many seconds the whole of ``text`` is; None where it is no span of time."""
    span, rest = leading(text)
    return None if rest else span


def short(span: int) -> str:
    """``1h30m``, ``2w``, ``1d12h``."""
    return "".join(f"{many}{_UNITS[unit][0]}" for unit, many in _units(span)) or "0s"


def spelt(span: int) -> str:
    """``hour and 30 minutes``, ``2 weeks``, ``hour``: as it stands after ``every``."""
    *most, last = [f"{many} {_UNITS[unit][-2 if many > 1 else -1]}" for unit, many in _units(span)] or ["0 seconds"]
    return f"{', '.join(most)} and {last}" if most else last.removeprefix("1 ")


def _units(span: int) -> list[tuple[int, int]]:
    """How many of each unit, of those of which there are any."""
    counts = []
    for unit in _UNITS:
        many, span = divmod(span, unit)
        counts += [(unit, many)] if many else []
    return counts
