"""How many model calls each turn of a conversation took, itself and by its subagents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import Asked, Final, Kept, Undone
from hermes_kernel.core.learning.prompting import sentence_of
from hermes_kernel.core.state import Turn
from hermes_kernel.core.turn import recall
from hermes_kernel.world.store import NoSession, Store
from hermes_kernel.world.store.records import facts


@dataclass(frozen=True, slots=True)
class TurnCalls:
    """One turn that stands: its number in its session, its prompt, and the calls it took."""

    number: int
    prompt: str
    own: int
    helpers: int
    limit: int


def calls_by_turn(store: Store, session: str, limits: Limits, most: int) -> tuple[TurnCalls, ...]:
    """The last turns of a session that stand, at most `most`, the latest last; none of one that has not begun.

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        known = facts(store.records(session))
    except NoSession:
        return ()
    turns = list(enumerate(_standing(known), 1))[-most:]
    return tuple(_calls(number, part, limits) for number, part in turns)


def _standing(known: Sequence[Kept]) -> list[list[Kept]]:
    """The facts of each turn that was not taken back."""
    found: list[list[Kept]] = []
    going = False
    for fact in known:
        match fact:
            case Asked():
                found.append([fact])
                going = True
            case Undone(turns):
                del found[max(len(found) - turns, 0) :]
                going = False
            case _ if going:
                found[-1].append(fact)
                going = not isinstance(fact, Final)
    return found


def _calls(number: int, part: list[Kept], limits: Limits) -> TurnCalls:
    """The budget is a fold of the turn's own facts: what was said before it has no part in it."""
    turn, first = recall(part, Turn(limits)), part[0]
    prompt = sentence_of(first.text) if isinstance(first, Asked) else ""
    return TurnCalls(number, prompt, turn.calls, max(turn.budget.spent - turn.calls, 0), turn.budget.limit)
