"""One step of a run, carried out as the workshop and the library do it. Whether it is still wanted is looked at first:
a person may have pinned, used or changed the skill since the plan was made.
"""

from __future__ import annotations

from dataclasses import replace

from hermes_kernel.core.learning.curating import Cause, Move, State, moved
from hermes_kernel.core.learning.curating_runs import DID, MOVE, PATCH, PROPOSED, UNDONE, Step
from hermes_kernel.core.learning.skill import Skill, SkillError
from hermes_kernel.learning.curating.knowing import state_of
from hermes_kernel.learning.curating.means import Means
from hermes_kernel.learning.skills.consent import Consent
from hermes_kernel.learning.skills.marks import Mark
from hermes_kernel.world.store import StoreError

BY = "curator"


def carried_out(means: Means, step: Step, *, ask: bool = False) -> Step:
    """`step` with what came of it; with `ask` it is only proposed. Raises nothing that a disk, a store or a person at
    work can do."""
    try:
        if trouble := _unwanted(means, step):
            return replace(step, outcome=UNDONE, said=trouble)
        judged = step.kind == PATCH or step.cause == Cause.JUDGED.name.lower()
        asked = ask or (judged and means.settings().skill_writes == "ask")
        consent = Consent.ASK if asked else Consent.NONE
        return _moved(means, step, consent) if step.kind == MOVE else _patched(means, step, consent)
    except (SkillError, StoreError) as error:
        return replace(step, outcome=UNDONE, said=str(error))


def made(means: Means, move: Move, by: str) -> str:
    """What a run would do for `move`, done now by somebody else; a sentence that says so. Raises `SkillError`."""
    if move.after is State.ARCHIVED:
        return means.workshop.archive(move.name, by=by, why=move.why).text
    means.library.mark(move.name, move.after.value, by=by, why=move.why)
    return f"The skill {move.name} is {move.after.value}{' again' if move.after is State.ACTIVE else ''}."


def _unwanted(means: Means, step: Step) -> str:
    skill = means.library.get(step.name)
    if skill.pinned:
        return "it was pinned meanwhile"
    now = standing(means, skill)
    return f"it is {now.value} meanwhile" if step.kind == MOVE and now is not State(step.before) else ""


def standing(means: Means, skill: Skill) -> State:
    """Where a skill is in its life now."""
    return state_of(skill, means.library.marks.read().get(skill.name, Mark()))


def _moved(means: Means, step: Step, consent: Consent) -> Step:
    after = moved(State(step.before), Cause[step.cause.upper()])
    if after is State.ARCHIVED:
        done = means.workshop.archive(step.name, by=BY, session=step.session, why=_why(step), consent=consent)
        return replace(step, outcome=PROPOSED if done.proposal else DID, said=done.text if done.proposal else "")
    means.library.mark(step.name, after.value, by=BY, session=step.session, why=step.why)
    return replace(step, outcome=DID)


def _why(step: Step) -> str:
    return f"{step.why} (what it held is in {step.into})" if step.into else step.why


def _patched(means: Means, step: Step, consent: Consent) -> Step:
    done = means.workshop.patch(
        step.name, step.old, step.new, by=BY, session=step.session, why=step.why, consent=consent
    )
    said = done.text if done.proposal else ""
    return replace(step, outcome=PROPOSED if done.proposal else DID, said=said, diff=done.diff)
