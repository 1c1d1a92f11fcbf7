"""Limits, what is spent of them and what is left. Arithmetic only; a budget never passes its limit, leased or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

LEAST = 2
"""Calls of the smallest lease: one to work with, and one for the closing words."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may use: numbers of times, but where a name says seconds or tokens.

    ``routes`` is how many models may be asked (the main one and its fallbacks). ``patience_seconds`` is the longest
    wait a server may ask for; beyond it another model is asked, or the turn says when to come back.
    ``model_max_tokens`` bounds how far the output limit grows for a reply that was cut, ``growths`` how often.
    ``refunds`` is how many iterations that only called `python` are given back. At ``compress_at`` of the window a
    summary of the older part is begun beside the turn, at ``compress_hard_at`` the turn waits for one; after
    ``fruitless`` compressions in a row that gained next to nothing no more are tried.
    """

    max_iterations: int = 90
    max_retries: int = 3
    retry_base_seconds: float = 5.0
    retry_max_seconds: float = 120.0
    patience_seconds: float = 600.0
    max_continuations: int = 3
    max_tokens: int = 0
    model_max_tokens: int = 32_768
    growths: int = 4
    empties: int = 2
    compressions: int = 3
    repairs: int = 2
    throttles: int = 20
    refunds: int = 0
    routes: int = 1
    compress_at: float = 0.5
    compress_hard_at: float = 0.85
    fruitless: int = 2


@dataclass(frozen=True, slots=True)
class IterationBudget:
    """Model calls of a turn and of every subagent below it.

    A subagent's calls are leased before it begins and counted as gone until it returns what it did not use; so whatever
    happens to a subagent, the tree as a whole never spends more than ``limit``.
    """

    limit: int
    spent: int = 0
    leases: tuple[tuple[str, int], ...] = ()

    @property
    def leased(self) -> int:
        """Calls that are out with subagents."""
        return sum(calls for _, calls in self.leases)

    @property
    def remaining(self) -> int:
        """Calls that may still be spent or leased."""
        return self.limit - self.spent - self.leased

    def spend(self, calls: int = 1) -> IterationBudget:
        """Raises: ValueError: fewer than `calls` remain."""
        self._check(calls)
        return replace(self, spent=self.spent + calls)

    def refund(self, calls: int = 1) -> IterationBudget:
        """Give back calls that were spent; never more than were."""
        return replace(self, spent=max(self.spent - calls, 0))

    def lease(self, name: str, calls: int) -> IterationBudget:
        """Raises: ValueError: fewer than `calls` remain, or the name has a lease."""
        self._check(calls)
        if name in dict(self.leases):
            raise ValueError(f"lease {name!r} is already out")
        return replace(self, leases=(*self.leases, (name, calls)))

    def settle(self, name: str, used: int) -> IterationBudget:
        """A lease comes back. More than was leased cannot have been used; an unknown name changes nothing."""
        granted = dict(self.leases).get(name, 0)
        kept = tuple(lease for lease in self.leases if lease[0] != name)
        return replace(self, spent=self.spent + min(max(used, 0), granted), leases=kept)

    def _check(self, calls: int) -> None:
        if not 0 <= calls <= self.remaining:
            raise ValueError(f"{calls} of {self.remaining} remaining calls asked for")


def share(remaining: int, asked: Sequence[int | None], beside: int = 1) -> int:
    """Calls for the first of those who wait for a lease, of the `remaining` ones; 0 when there are not `LEAST`.

    Each asked for a number of calls, or for a fair share (None). Where everything asked for can be had, it is; else all
    have equal shares, and nobody more than was asked for. ``beside`` them share so many others, each of whom keeps a
    call: the parent.
    """
    spare = remaining - beside
    if spare < LEAST:
        return 0
    numbers = [calls for calls in asked if calls is not None]
    fair = len(asked) - len(numbers)
    first = asked[0]
    if sum(numbers) + fair * LEAST > spare:
        equal = max(remaining // (len(asked) + beside), LEAST)
        return min(equal, spare, equal if first is None else first)
    return max((remaining - sum(numbers)) // (fair + beside), LEAST) if first is None else first
