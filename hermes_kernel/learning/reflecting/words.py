"""What came of a look, in lines for a person. What a model wrote is quoted, never believed."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_kernel.core.learning.memory import FILES
from hermes_kernel.core.learnt import SKIPPED, Looked, Remembered, SkillChanged
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.world.chronicle import Chronicle

LONGEST = 300  # characters of a line
NOTHING = {"nudge": "nothing was worth remembering", "review": "nothing was worth a skill"}


def came(looked: Looked, chronicle: Chronicle, proposals: Proposals) -> tuple[str, ...]:
    """What `looked` has written and what waits for the person; the outcome where that is neither.

    Raises:
        StoreError: the store cannot be read.
    """
    facts = [each.fact for each in chronicle.read(Remembered, SkillChanged)] if looked.wrote else []
    lines = [line for fact in facts if _by(fact, looked) for line in _written(fact)]
    lines += [
        f"waits for you: `%hermes {'memory' if each.kind == 'memory' else 'skills'} accept {each.id[:8]}`"
        for each in proposals.all()
        if looked.aside and each.session == looked.aside
    ]
    if not lines:
        done = looked.outcome in ("completed", "budget_exhausted", "empty", SKIPPED)
        lines = [NOTHING[looked.loop] if done else f"it {looked.outcome.replace('_', ' ')}: {looked.why}"]
    return tuple(brief(clean(line), LONGEST) for line in lines)


def _by(fact: object, looked: Looked) -> bool:
    return isinstance(fact, Remembered | SkillChanged) and (fact.session, fact.by) == (looked.aside, looked.loop)


def _written(fact: object) -> Iterator[str]:
    match fact:
        case Remembered(target=target, before=before, after=after):
            name = FILES.get(target, target)
            yield from (f"{name} - {entry}" for entry in before if entry not in after)
            yield from (f"{name} + {entry}" for entry in after if entry not in before)
        case SkillChanged(name=name, action=action, file=file):
            yield f"skill {name}: {action}" + (f" {file}" if file else "")
        case _:
            pass
