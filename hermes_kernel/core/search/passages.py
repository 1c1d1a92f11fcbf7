"""Which facts are messages, and which messages are undone: the same for the index, the fresh tail and a reader.

`tell` takes the facts of one session one by one, so that indexing one more costs no more than its length.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hermes_kernel.core.events import Kept
from hermes_kernel.core.search.found import Passage


@dataclass(frozen=True, slots=True)
class Hidden:
    """The messages of a session from place ``since`` on, up to this fact, are undone."""

    session: str
    since: int


@dataclass(frozen=True, slots=True)
class Telling:
    """What must be remembered of a session to place its next fact. Given the session's `Asked` and `Undone` facts and
    all facts since its last `Asked`, it is as if it had been given them all."""

    session: str
    starts: tuple[int, ...] = ()
    # the rest is `tell`'s own business
    names: dict[str, str] = field(default_factory=dict)


def tell(telling: Telling, n: int, t: float, fact: Kept) -> tuple[Telling, tuple[Passage | Hidden, ...]]:
    """What one more fact adds: passages, or the news that earlier ones are undone."""
    raise NotImplementedError


def passages(session: str, facts: Iterable[tuple[int, float, Kept]]) -> tuple[Passage, ...]:
    """The messages of a session that stand, in order, from its facts with their places and times."""
    raise NotImplementedError
