"""What has become of each skill, folded from the kept facts: how often it was read and changed, and when last.

What the slow loops do counts as nobody's use: a curator that looks at a skill does not keep it alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hermes_kernel.core.learnt import LOOPS, Dated, Learnt, SkillChanged, SkillMarked, SkillUsed

CHANGES = frozenset({"patch", "edit", "write_file", "remove_file", "found", "undo"})
BEGINNINGS = frozenset({"create", "install"})
RETURNS = frozenset({"restore", "rollback"})
"""A person wants it back: its days of disuse are counted anew, though nobody used it."""


@dataclass(frozen=True, slots=True)
class Record:
    """The counts of one skill, and times in seconds since 1970-01-01 UTC, 0 where nothing is known; as in `Life`.
    ``told``: when it last changed, whoever changed it."""

    born: float = 0.0
    last: float = 0.0
    since: float = 0.0
    views: int = 0
    uses: int = 0
    patches: int = 0
    told: float = 0.0


def records(facts: Iterable[Dated]) -> Mapping[str, Record]:
    """Every skill that `facts`, in the order of time, say anything of."""
    found: dict[str, Record] = {}
    for dated in facts:
        if isinstance(dated.fact, SkillUsed | SkillChanged | SkillMarked):
            name = dated.fact.name
            found[name] = told(found.get(name, Record()), dated.t, dated.fact)
    return found


def told(record: Record, t: float, fact: Learnt) -> Record:
    """`record` after what happened at `t`. A skill that is made anew under an old name begins a life of its own."""
    match fact:
        case SkillUsed(how=how, by=by) if by not in LOOPS:
            return replace(
                record,
                last=max(record.last, t),
                views=record.views + (how == "view"),
                uses=record.uses + (how == "use"),
            )
        case SkillChanged(action=action) if action in BEGINNINGS:
            return Record(born=t, told=t)
        case SkillChanged(action=action, by=by) if action in CHANGES and by != "curator":
            return replace(record, last=max(record.last, t), patches=record.patches + 1, told=t)
        case SkillChanged(action=action, by=by) if action in RETURNS and by != "curator":
            return replace(record, last=max(record.last, t), told=t)
        case SkillChanged():
            return replace(record, told=t)
        case SkillMarked(mark="stale"):
            return replace(record, since=t)
        case SkillMarked(mark="active"):
            return replace(record, since=0.0)
        case _:
            return record


def joined(one: Record, other: Record) -> Record:
    """What two witnesses know of the same skill: the greater of each count, the earlier birth, the later use."""
    births = [born for born in (one.born, other.born) if born]
    return Record(
        born=min(births, default=0.0),
        last=max(one.last, other.last),
        since=max(one.since, other.since),
        views=max(one.views, other.views),
        uses=max(one.uses, other.uses),
        patches=max(one.patches, other.patches),
        told=max(one.told, other.told),
    )
