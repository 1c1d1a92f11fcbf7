"""When a slow loop is to look at a conversation, and at which of its turns. Counts turns as the log does: every prompt,
also one that was taken back later, has its number for good."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hermes_kernel.core.events import Asked, Compressed, Compressing, Final, Kept, Undone
from hermes_kernel.core.learning.triggers import Trigger, triggers
from hermes_kernel.core.learnt import Dated, LookDue, Looked
from hermes_kernel.core.messages import Transcript
from hermes_kernel.core.turn import Turn, evolve

KEPT_DUE_SECONDS = 7 * 86_400.0
"""How long a look that nobody took stays due: what was said a week ago is past reminding."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """What a conversation has that no look has seen: so many ``turns``; ``seconds`` since the last look, or since the
    first of them; ``idle`` seconds since the last. ``compressing``: it is about to be made shorter."""

    turns: int
    seconds: float = 0.0
    idle: float = 0.0
    compressing: bool = False


def due(unseen: Unseen, every: int, seconds: float) -> str:
    """Why it is to be asked what is worth remembering; ``""`` where it is not. After `every` turns (0: never at all) or
    `seconds` (0: not by time)."""
    if unseen.turns <= 0 or every == 0:
        return ""
    if unseen.compressing:
        return "the conversation is being compressed"
    if unseen.turns >= every:
        return f"{unseen.turns} turns since the last look" if unseen.turns > 1 else "a turn since the last look"
    if seconds and unseen.idle >= seconds:
        return f"nothing was asked for {seconds:,.0f} s"
    if seconds and unseen.seconds >= seconds:
        return f"{seconds:,.0f} s since the last look"
    return ""


def shortened(turn: Turn) -> bool:
    """The conversation was made shorter in this turn, or is about to be."""
    return any(isinstance(fact, Compressing | Compressed) for fact in turn.events)


@dataclass(frozen=True, slots=True)
class Told:
    """A turn of a log that is over, by its ``number`` from 1. ``again``: the turn before was taken back for it."""

    number: int
    turn: Turn
    again: bool = False


def turns_of(facts: Iterable[Kept]) -> tuple[Told, ...]:
    """The turns that are over and stand, word for word: what a compression took out is in them."""
    turn, told, number, again = Turn(), list[Told](), 0, False
    for fact in facts:
        if isinstance(fact, Compressing | Compressed):
            continue
        turn = evolve(turn, fact)
        match fact:
            case Asked():
                number += 1
            case Undone(turns):
                del told[max(len(told) - turns, 0) :]
                again = True
            case Final():
                told.append(Told(number, turn, again))
                again = False
    return tuple(told)


@dataclass(frozen=True, slots=True)
class Matter:
    """What there is to look at: ``messages`` of the turns up to number ``seen``; for a review the ``trigger``."""

    messages: Transcript
    seen: int
    turns: int
    trigger: Trigger | None = None


def remembering(told: tuple[Told, ...], seen: int) -> Matter | None:
    """What is to be looked at for what is worth remembering: every turn after number `seen`; None where none is."""
    fresh = [each for each in told if each.number > seen]
    if not fresh:
        return None
    first = fresh[0].turn.starts[-1]
    return Matter(fresh[-1].turn.transcript[first:], fresh[-1].number, len(fresh))


def reviewing(told: tuple[Told, ...], seen: int, least_calls: int) -> Matter | None:
    """What is to be reviewed: of the turns after number `seen` those from the first to the last that is worth it, and
    the one before, which a correction is about; None where none is worth it."""
    worth = [
        (each, trigger)
        for each in told
        if each.number > seen and (trigger := triggers(each.turn, least_calls, again=each.again))
    ]
    if not worth:
        return None
    (begin, _), (end, trigger) = worth[0], worth[-1]
    first = begin.turn.starts[-2:][0]
    skills = tuple(dict.fromkeys(name for _, each in worth for name in each.skills))
    return Matter(end.turn.transcript[first:], end.number, len(worth), Trigger(trigger.why, skills))


def latest(told: tuple[Told, ...], why: str) -> Matter | None:
    """The last turn, whatever was seen of it: for a person who asks for a look; None where there is none."""
    if not told:
        return None
    turn = told[-1].turn
    return Matter(turn.transcript[turn.starts[-2:][0] :], told[-1].number, 1, Trigger(why))


def seen_of(looks: Iterable[Dated], loop: str, session: str) -> int:
    """The number of the last turn of `session` that `loop` has looked at; 0: none."""
    seen = (each.fact for each in looks if isinstance(each.fact, Looked))
    return max((fact.seen for fact in seen if (fact.loop, fact.session) == (loop, session)), default=0)


def still_due(facts: Iterable[Dated]) -> tuple[Dated, ...]:
    """The `LookDue` for which no `Looked` of the same loop and session came later, the newest of each, oldest first."""
    waiting: dict[tuple[str, str], Dated] = {}
    for each in facts:
        match each.fact:
            case LookDue(loop, session):
                waiting.pop((loop, session), None)
                waiting[loop, session] = each
            case Looked(loop, session):
                waiting.pop((loop, session), None)
            case _:
                pass
    return tuple(waiting.values())


def next_nudge(unseen: Unseen, every: int, seconds: float) -> str:
    """When the next one will be, in words."""
    turns = max(every - unseen.turns, 1)
    after = f"after {turns} more turn{'s' if turns > 1 else ''}"
    if not seconds:
        return after
    left = max(seconds - (unseen.seconds if unseen.turns else 0), 0)
    return f"{after}, or {left:,.0f} s after one" if not unseen.turns else f"{after}, or in {left:,.0f} s"
