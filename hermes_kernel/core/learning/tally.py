"""What a store counts of its facts. Knows kinds and places, not what the facts say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latest:
    """The facts of one kind: how many there are, and of the last of them when it came (seconds since 1970-01-01 UTC),
    in which session and at which place there."""

    count: int = 0
    t: float = 0.0
    session: str = ""
    n: int = -1

    def __add__(self, other: Latest) -> Latest:
        """Both together."""
        last = max(self, other, key=lambda each: (each.t, each.session, each.n))
        return Latest(self.count + other.count, last.t, last.session, last.n)
