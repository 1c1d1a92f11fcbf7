"""What became of one row, read from the facts of its session and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Failed,
    Final,
    Interrupted,
    Kept,
    Outcome,
    Replied,
    Returned,
    Spent,
    Undone,
)
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.text import brief

LOST = "It was being asked when its process ended: whether the call was made, and paid, is not known."


class RowOutcome(StrEnum):
    """How a row ended: as a turn does; or ``UNKNOWN``, it was being asked when its process died; or ``NOT_ASKED``."""

    COMPLETED = "completed"
    BUDGET_EXHAUSTED = "budget_exhausted"
    REFUSED = "refused"
    EMPTY = "empty"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"
    NOT_ASKED = "not_asked"

    def __repr__(self) -> str:
        return repr(self.value)  # it is read in cells, and compared with a text


@dataclass(frozen=True, slots=True)
class Row:
    """One row's answer. ``key`` is the frame's label of it, or its number from 0; ``reason`` is one line where there is
    something to add; ``seconds`` are those of its model calls; ``session_id`` is the session it was asked in,
    ``""`` where it never was."""

    key: Any
    outcome: RowOutcome
    text: str = ""
    reason: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    session_id: str = ""

    @property
    def cost(self) -> float:
        """US dollars, as far as the server states them."""
        return self.usage.cost

    def __repr__(self) -> str:
        return f"<Row {self.key!r} {self.outcome}: {brief(self.text or self.reason, 60)!r}>"


def row_of(key: Any, session_id: str, facts: Iterable[Kept]) -> Row:
    """What the facts of its session say of a row; no more of them is looked at than that takes."""
    asked, final, usage, seconds = False, None, Usage(), 0.0
    for fact in facts:
        match fact:
            case Asked():
                asked, final, seconds = True, None, 0.0
            case Undone():
                asked, final = False, None
            case Replied(usage=used, seconds=took) | Failed(usage=used, seconds=took):
                usage, seconds = usage + used, seconds + took
            case Interrupted(usage=used) | Compressed(usage=used) | Spent(usage=used) | Returned(usage=used):
                usage = usage + used
            case Final():
                final = fact
            case _:
                pass
    if final is None:
        outcome = RowOutcome.UNKNOWN if asked else RowOutcome.NOT_ASKED
        return Row(key, outcome, "", LOST if asked else "", usage, seconds, session_id)
    return Row(key, RowOutcome(final.outcome.value), final.text, final.reason, usage, seconds, session_id)


def calls_of(facts: Iterable[Kept]) -> int:
    """The model calls that a row took out of a budget: those that came back; all it had leased, where nobody can tell
    how many were made. That is so of a row that never ended, and of one that was stopped while it was being asked; not
    of one that no executor took: it is taken back, and not asked again in the same breath."""
    taken = used = lease = 0
    for fact, then in pairwise((*facts, None)):
        match fact:
            case Asked(budget=budget):
                taken += lease or used
                used, lease = 0, budget
            case Replied():
                used += 1
            case Final(outcome):
                used, lease = (lease or used) if outcome is Outcome.INTERRUPTED else used, 0
            case Undone() if not isinstance(then, Asked):
                lease = 0
            case _:
                pass
    return taken + (lease or used)
