"""Whether a turn is worth a skill: the triggers of the skill review, found in the facts of one turn that is over.

Precise rather than complete: a review that finds nothing costs as much as one that does. Knows no session and no store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from hermes_kernel.core.events import Approved, Asked, Outcome
from hermes_kernel.core.learning.correcting import corrects
from hermes_kernel.core.learning.prompting import skills_in, words_of
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, User
from hermes_kernel.core.turn import Turn

READING = frozenset(
    {"read_file", "search_files", "session_search", "skill_view", "skills_search", "todo", "clarify", "memory"}
)
"""Tools that look, ask or note: a turn of nothing else made nothing that could be done again."""

WRITES, OPENS = "skill_manage", "skill_view"
WAYS = 2
"""Ways that failed, after which a third that works is not an obvious one."""

ALIKE = 0.5
"""Share of the words of the shorter call that two calls for one goal have in common."""

_WORD = re.compile(r"[^\W_]{4,}")


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why a turn is worth a review, in words; ``skills`` were loaded in it and did not serve: they want a patch."""

    why: str
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """A call and what came of it. ``refused``: a person or a rule said no."""

    call: ToolCall
    ok: bool
    refused: bool = False


def triggers(turn: Turn, least_calls: int, *, again: bool = False) -> Trigger | None:
    """What makes `turn` worth a review, if anything does: it took `least_calls` tool calls; it recovered from an error;
    it began with a correction of the turn before; or a way was found after others had failed. ``again``: the person
    took the turn before back. Not of a turn that did not complete, that only read, or that wrote a skill itself."""
    if turn.outcome is not Outcome.COMPLETED:
        return None
    steps, before = _steps(turn.messages, _refused(turn)), _before(turn)
    if any(step.ok and step.call.name == WRITES for step in steps):
        return None
    corrected = again or (bool(before) and corrects(words_of(_asked(turn))))
    loaded = _loaded(turn.messages, steps)
    if corrected:
        opened = tuple(dict.fromkeys((*_loaded(before, _steps(before)), *loaded)))
        if opened or _worked(steps) or _worked(_steps(before)):
            return Trigger("the person corrected what was done", opened)
    working = _worked(steps)
    if not working:
        return None
    failed = any(_counts(step) for step in working)
    why = _found(working) or _recovered(working) or _long(steps, least_calls)
    return Trigger(why, loaded if failed else ()) if why else None


def _found(working: tuple[_Step, ...]) -> str:
    """A way that worked after several others had not."""
    ways: set[tuple[str, str]] = set()
    for step in working:
        if step.ok and len(ways) >= WAYS:
            return f"a way was found after {len(ways)} others had failed"
        if _counts(step):
            ways.add((step.call.name, step.call.arguments))
    return ""


def _recovered(working: tuple[_Step, ...]) -> str:
    """A call failed, and later one to the same tool, or for the same goal, did not."""
    for at, step in enumerate(working):
        if _counts(step) and any(later.ok and _same_goal(step.call, later.call) for later in working[at + 1 :]):
            return f"an error of `{step.call.name}` was overcome"
    return ""


def _long(steps: tuple[_Step, ...], least: int) -> str:
    return f"it took {len(steps)} tool calls" if len(steps) >= least else ""


def _counts(step: _Step) -> bool:
    """A failure there is something to learn from: no refusal, and no call that could not be read."""
    return not (step.ok or step.refused or step.call.flaw)


def _same_goal(one: ToolCall, other: ToolCall) -> bool:
    if one.name == other.name:
        return True
    first, second = _words(one.arguments), _words(other.arguments)
    return bool(first and second) and len(first & second) >= ALIKE * min(len(first), len(second))


def _words(arguments: str) -> frozenset[str]:
    """The words in a call's values; its keys are the tool's."""
    try:
        plain = json.loads(arguments)
    except (ValueError, RecursionError):
        return frozenset()
    values = plain.values() if isinstance(plain, dict) else ()
    return frozenset(word.casefold() for value in values for word in _WORD.findall(str(value)))


def _steps(messages: Transcript, refused: frozenset[str] = frozenset()) -> tuple[_Step, ...]:
    calls: dict[str, ToolCall] = {}
    steps: list[_Step] = []
    for message in messages:
        match message:
            case Assistant(calls=asked):
                calls = {call.id: call for call in asked}
            case Observation(call_id, ok=ok) if call_id in calls:
                steps.append(_Step(calls[call_id], ok, call_id in refused))
    return tuple(steps)


def _worked(steps: Iterable[_Step]) -> tuple[_Step, ...]:
    """Those that did more than look."""
    return tuple(step for step in steps if step.call.name not in READING)


def _refused(turn: Turn) -> frozenset[str]:
    return frozenset(fact.call_id for fact in turn.events if isinstance(fact, Approved) and not fact.allowed)


def _loaded(messages: Transcript, steps: Iterable[_Step]) -> tuple[str, ...]:
    """The skills that were named in the prompt or opened, each once."""
    return tuple(dict.fromkeys((*skills_in(_prompt(messages)), *_opened(steps))))


def _opened(steps: Iterable[_Step]) -> Iterator[str]:
    for step in steps:
        if step.ok and step.call.name == OPENS:
            plain = json.loads(step.call.arguments)  # a call that succeeded has an object for arguments
            if isinstance(name := plain.get("name"), str):
                yield name


def _asked(turn: Turn) -> str:
    """What the person asked, without a note that the model was told besides."""
    return next((fact.text for fact in turn.events if isinstance(fact, Asked)), "")


def _prompt(messages: Transcript) -> str:
    match messages[:1]:
        case (User(text=text),):
            return text
        case _:
            return ""


def _before(turn: Turn) -> Transcript:
    """The messages of the turn before, as far as they stand in the transcript."""
    bounds = list(pairwise(turn.starts))
    return turn.transcript[slice(*bounds[-1])] if bounds else ()
