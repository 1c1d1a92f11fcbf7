"""Words as wishes: what a job's options say, before anybody holds it against what is allowed (`scheduling.wishes`)."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import Any

from hermes_kernel.core.text import brief

NONE, ALL, USUAL = "none", "all", "usual"
DIGITS = 9  # of a number that is read as one


def number(text: str) -> int | str:
    """The whole number that `text` says; text that says none is left to be refused by name."""
    word = text.strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) <= DIGITS else text


def count(text: str) -> int:
    """A whole number from 1: so many rows."""
    found = number(text)
    if not isinstance(found, int) or not found:
        raise ArgumentTypeError(f"{brief(repr(text), 40)} is no whole number from 1")
    return found


def grace(text: str) -> str | None:
    """How late is on time; ``usual`` leaves it to the schedule."""
    return None if text.strip().lower() == USUAL else text


def names(text: str) -> tuple[str, ...] | None:
    """Names with commas between; ``none`` for none, ``all`` (None) for all there are."""
    given = tuple(dict.fromkeys(filter(None, (name.strip() for name in text.split(",")))))
    if not given:
        raise ArgumentTypeError("give names with commas between, `none` or `all`")
    return None if given == (ALL,) else () if given == (NONE,) else given


def parameter(text: str) -> tuple[str, Any]:
    """``name=value``: the value is JSON where it can be, such as 48, 0.5, true or [1, 2], and else text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ArgumentTypeError(f"{brief(repr(text), 40)} is no NAME=VALUE, such as week=48")
    return name.strip(), _value(value)


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value
