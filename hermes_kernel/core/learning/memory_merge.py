"""Two changes of the same entries put together, entry by entry: how a change is taken back and an edit takes its place
when others wrote meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hermes_kernel.core.learning.memory import MemoryRefused


def merged(base: Sequence[str], new: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """`now` with what makes `new` of `base`: what went goes, what came comes behind the entry it stands behind in
    `new`. What others have taken away already is not missed, and what they have added already is not added twice."""
    result = list(now)
    for entry in _more(base, new):
        if entry in result:
            result.remove(entry)
    came = Counter(_more(new, base))
    for n, entry in enumerate(new):
        if came[entry]:
            came[entry] -= 1
            if entry not in result:
                result.insert(_behind(new[:n], result), entry)
    return _in_order(base, new, result)


def taken_back(before: Sequence[str], after: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """`now` without the change that made `after` of `before`, and with all that came since.

    Raises:
        MemoryRefused: what it wrote has been changed since, or nothing of it is left.
    """
    if [each for each in _more(after, before) if each not in now]:
        raise MemoryRefused(
            "What it wrote was changed or removed since: take that later change back first, or edit the entry. "
            "Nothing was changed."
        )
    result = merged(after, before, now)
    if result == tuple(now):
        raise MemoryRefused("Nothing of it is left to take back. Nothing was changed.")
    return result


def _in_order(base: Sequence[str], new: Sequence[str], result: Sequence[str]) -> tuple[str, ...]:
    """`result`, in the order of `new` where that is a change of order and of nothing else."""
    same = Counter(base) == Counter(new) == Counter(result)
    return tuple(new) if same and tuple(result) == tuple(base) else tuple(result)


def _more(some: Sequence[str], others: Sequence[str]) -> list[str]:
    """What `some` has more of than `others`, in its order."""
    over = Counter(some) - Counter(others)
    found = []
    for entry in some:
        if over[entry]:
            over[entry] -= 1
            found.append(entry)
    return found


def _behind(ahead: Sequence[str], result: Sequence[str]) -> int:
    """The place behind the last entry of `ahead` that there is."""
    return next((result.index(entry) + 1 for entry in reversed(ahead) if entry in result), 0)
