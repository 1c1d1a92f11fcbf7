"""Whether a fact from a file is one that this program could have written. One that is not could break every view."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hermes_kernel.core import events
from hermes_kernel.core.plain import Plain, dump, load

LARGEST = 2**31  # no number of a fact is as large, and a column takes no larger one
LONGEST_KIND = 40  # characters


def sound(plain: Plain) -> Plain | None:
    """The fact as this program writes it; as it is where it is of a kind that a later version knows; None where any of
    it is not what it should be."""
    kind = plain.get("fact")
    if not isinstance(kind, str) or len(kind) > LONGEST_KIND:
        return None
    try:
        fact = load(plain)
    except (ValueError, RecursionError):
        return None
    if fact is None:
        return plain
    return dump(fact) if _fits(fact, type(fact)) else None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, dict(vars(events)))


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(hint)[0]) for each in value)
    if isinstance(hint, type) and is_dataclass(hint):
        known = _hints(hint)
        return isinstance(value, hint) and all(_fits(getattr(value, f.name), known[f.name]) for f in fields(hint))
    if hint is float:
        return _is_number(value) and math.isfinite(value)
    if hint is int:
        return _is_number(value) and isinstance(value, int) and abs(value) < LARGEST
    return isinstance(value, hint)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
