"""What a person can decide now: which verbs a skill takes as it is, and what waits for consent. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.skill import SkillError, State

if TYPE_CHECKING:
    from hermes_kernel.learning.lore import Lore
    from hermes_kernel.learning.proposals import Proposal

OFFERED = frozenset(map(str, (State.ACTIVE, State.STALE)))
ARCHIVED, DISABLED = str(State.ARCHIVED), str(State.DISABLED)


@dataclass(frozen=True, slots=True)
class Waits:
    """A change of a skill that somebody proposed. ``diff`` is what it would change, ``findings`` what is suspicious."""

    id: str
    name: str
    action: str
    by: str
    t: float
    why: str
    findings: tuple[str, ...]
    diff: str


def possible(skill: Mapping[str, Any], *, undo: bool) -> tuple[str, ...]:
    """The verbs that a skill takes, as `asked.shown` has it in its value; ``undo`` if its last change can be."""
    return tuple(_possible(skill, undo=undo))


def _possible(skill: Mapping[str, Any], *, undo: bool) -> Iterator[str]:
    state = skill["state"]
    if state != ARCHIVED:
        yield "unpin" if skill["pinned"] else "pin"
    if state in OFFERED or state == DISABLED:
        yield "enable" if state == DISABLED else "disable"
    if state == ARCHIVED:
        yield "restore"
    elif skill["origin"] != "bundled" and "/" not in skill["name"]:
        yield "archive"
    if skill["suspicious"] and not skill["trusted"] and state != ARCHIVED:
        yield "trust"
    if undo:
        yield "undo"


def undoable(lore: Lore, name: str) -> bool:
    """The latest change of the skill `name` was one of what is in it: with it taken back there still is a skill."""
    latest = [fact for _, _, fact in lore.workshop.changes(name) if fact.before != fact.after][-1:]
    return any(fact.before and fact.after for fact in latest)


def waiting(lore: Lore) -> tuple[Waits, ...]:
    """What waits for consent, the oldest first."""
    return tuple(map(_waits, lore.proposals.all("skill")))


def awaited(lore: Lore, identity: str) -> Waits:
    """The proposal with just this id.

    Raises:
        SkillError: it waits no more.
    """
    for each in waiting(lore):
        if each.id == identity:
            return each
    raise SkillError("It was decided meanwhile by somebody else.")


def _waits(proposal: Proposal) -> Waits:
    said = {key: value for key, value in proposal.what.items() if isinstance(value, str)}
    name, action, diff = (said.get(key, "") for key in ("name", "action", "diff"))
    return Waits(proposal.id, name, action, proposal.by, proposal.t, proposal.why, proposal.findings, diff)
