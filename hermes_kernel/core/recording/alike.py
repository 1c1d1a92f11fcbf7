"""In how much two rows of anything are the same: at their beginnings, and at their ends. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def alike(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def ends_alike(one: Sequence[object], other: Sequence[object]) -> tuple[int, int]:
    """How many items both begin with, and how many of the others both end with."""
    start = alike(one, other)
    return start, alike(one[start:][::-1], other[start:][::-1])
