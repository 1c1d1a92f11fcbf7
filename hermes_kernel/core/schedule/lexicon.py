"""The words that a schedule may have, and what kind each is of, with a number that goes with it: a table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hermes_kernel.core.schedule.durations import NUMBERS

LAST = 0
"""The ordinal of the last, as in ``last friday``."""

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
ORDINALS = ("last", "first", "second", "third", "fourth", "fifth")
GROUPS = ((1, 2, 3, 4, 5), (6, 0))
"""Weekdays, weekends."""

_SHORT_DAYS = {"tues": 2, "wednes": 3, "weds": 3, "thur": 4, "thurs": 4}

WORDS: Mapping[str, tuple[str, int]] = MappingProxyType({
    **{day.lower(): ("day", at) for at, day in enumerate(DAYS)},
    **{day[:3].lower(): ("day", at) for at, day in enumerate(DAYS)},
    **{day: ("day", at) for day, at in _SHORT_DAYS.items()},
    **{f"{day.lower()}s": ("days", at) for at, day in enumerate(DAYS)},
    **{month.lower(): ("month", at) for at, month in enumerate(MONTHS, 1)},
    **{month[:3].lower(): ("month", at) for at, month in enumerate(MONTHS, 1)},
    "sept": ("month", 9),
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), ("group", 0)),
    **dict.fromkeys(("weekend", "weekends"), ("group", 1)),
    **{ordinal: ("ordinal", at) for at, ordinal in enumerate(ORDINALS)},
    **{f"{unit}{s}": ("unit", 0) for unit in ("minute", "hour", "day", "week", "month", "year") for s in ("", "s")},
    **{word: ("adverb", at) for at, word in enumerate(("hourly", "daily", "weekly", "monthly", "yearly"))},
    "annually": ("adverb", 4),
    **{word: ("number", number) for word, number in NUMBERS.items()},
    "noon": ("noon", 12),
    "midnight": ("noon", 0),
    "every": ("every", 0),
    "each": ("every", 0),
    "once": ("once", 0),
    "other": ("other", 0),
    "alternate": ("other", 0),
    "today": ("relative", 0),
    "tomorrow": ("relative", 0),
    "next": ("coming", 0),
    "this": ("coming", 0),
    **dict.fromkeys(("to", "through", "thru"), ("to", 0)),
    **dict.fromkeys(("on", "the", "of", "in", "at", "and"), ("joint", 0)),
    **dict.fromkeys(("from", "between", "until", "till", "except", "but", "during", "not", "starting"), ("beyond", 0)),
})  # fmt: skip


def th(number: int) -> str:
    """What makes an ordinal of ``number``: ``st`` of 1, ``th`` of 11."""
    return "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
