"""The eight loops as a store and the settings tell of them: gathers what `core.learning.loops` makes the table from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Asked, Compressed, Continued, Failed, Interrupted, Replied, Spent
from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.loops import Happened, LoopRow, Summary, pending, rows
from hermes_kernel.core.learning.tally import Latest
from hermes_kernel.core.learnt import LOOPS, TITLES, Dated, Looked
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.planned import PLANNED, SCHEDULE
from hermes_kernel.core.schedule.outlook import outlook
from hermes_kernel.core.schedule.rows import RunRow, called
from hermes_kernel.core.schedule.rows import rows as ran
from hermes_kernel.learning.holding import held_back

if TYPE_CHECKING:
    from hermes_kernel.core.events import Kept
    from hermes_kernel.learning.learning import Learning
    from hermes_kernel.learning.reflecting.standing import Standing
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.store import Store
    from hermes_kernel.world.store.asking.counting import Counting

ROWS = {"nudge": "nudge", "review": "skill creation", "curator": "curator"}
COSTS = ("Replied", "Failed", "Interrupted", "Compressed", "Spent")


def loops(store: Store, settings: Settings, plans: Mapping[str, str] | None = None) -> tuple[LoopRow, ...]:
    """The eight, from the fastest to the slowest. ``plans`` says when one of them runs next where somebody knows better
    than the settings do: by its name in the table.

    Raises:
        StoreError: the store cannot be read.
    """
    learnt, jobs = store.learnt(), store.learnt(PLANNED)
    with store.counting() as counting:
        happened = _happened(counting, learnt, ran(jobs, called(jobs)))
    return rows(happened, planned(settings, learnt) | {"schedule": outlook(jobs)} | dict(plans or {}))


def planned(settings: Settings, learnt: tuple[Dated, ...]) -> dict[str, str]:
    """When each loop runs next, in words, where no agent is there to ask."""
    nudge = f"after {counted(settings.nudge_every_turns, 'turn')}"
    nudge += f" or {settings.nudge_seconds:g} s" if settings.nudge_seconds else ""
    review = f"after a task of {settings.skill_trigger_calls} tool calls, a recovery or a correction"
    idle = f"when nothing was asked for {settings.curator_idle_hours:g} h"
    curator = f"every {settings.curator_days:g} days, {idle}"
    slow = {
        "nudge": _off(settings, settings.memory_writes, "memory_writes")
        or _every(settings)
        or _due(learnt, "nudge") + nudge,
        "skill creation": _off(settings, settings.skill_writes, "skill_writes") or _due(learnt, "review") + review,
        "curator": _off(settings) or curator,
    }
    return {
        "tool execution": "with the next tool call",
        "agent iteration": "with the next prompt",
        "compression": f"at {settings.compress_at:.0%} of the window",
        "session accumulation": "with the next conversation",
        **slow,
    }


def standing(learning: Learning) -> dict[str, str]:
    """When the slow loops run next, in words, as those say that run them.

    Raises:
        StoreError: the store cannot be read.
    """
    return {ROWS[each.loop]: _coming(each) for each in learning.reflector.status()} | _curated(learning)


def _coming(each: Standing) -> str:
    if each.running:
        return "at this moment"
    if each.off:
        return f"when it is asked for: {each.off}"
    return f"{len(each.due)} due; {each.next}" if each.due else each.next


def _curated(learning: Learning) -> dict[str, str]:
    status = learning.curator.status()
    if held_back(learning.settings) or not status.next:
        return {}
    idle = f"when nothing was asked for {learning.settings.curator_idle_hours:g} h"
    return {"curator": f"from {minute(status.next)}, {idle}"}


def _off(settings: Settings, writes: str = "on", name: str = "") -> str:
    """Why a loop does not run by itself; nothing where it does."""
    if why := held_back(settings):
        return f"when it is asked for: {why}"
    return f"never: {name} is off" if writes == "off" else ""


def _every(settings: Settings) -> str:
    return "" if settings.nudge_every_turns else "never: nudge_every_turns is 0"


def _due(learnt: tuple[Dated, ...], loop: str) -> str:
    waiting = pending(learnt, loop)
    return f"{waiting} due; " if waiting else ""


# --- what happened


def _happened(counting: Counting, learnt: tuple[Dated, ...], runs: tuple[RunRow, ...]) -> Happened:
    kinds = counting.latest()
    looks = _looks(counting, learnt)
    begun = counting.begun(looks)
    results, ends = kinds.get("Observed", Latest()), kinds.get("Final", Latest())
    return Happened(
        kinds,
        reread=counting.after("Replied", results.session, results.n) if results.count else 0,
        turn=_turn(counting, ends) if ends.count else Usage(),
        summary=_summary(counting, kinds["Compressed"]) if "Compressed" in kinds else Summary(),
        begun=begun,
        searches=counting.called("session_search", begun[-1]) if begun else 0,
        learnt=learnt,
        spent=_spent(counting, looks) | {SCHEDULE: _ran_for(counting, runs)},
        runs=runs,
    )


def _looks(counting: Counting, learnt: tuple[Dated, ...]) -> dict[str, str]:
    """The sessions in which slow loops looked, also where one was cut and nothing says that it did: their loops."""
    told = {each.fact.aside: each.fact.loop for each in learnt if isinstance(each.fact, Looked) and each.fact.aside}
    return told | {session: kind for session, kind in counting.titled(TITLES.values()).items() if kind in LOOPS}


def _spent(counting: Counting, looks: Mapping[str, str]) -> dict[str, Usage]:
    """What each loop has cost."""
    spent = counting.spent(looks)
    return {loop: sum((spent.get(each, Usage()) for each in looks if looks[each] == loop), Usage()) for loop in LOOPS}


def _ran_for(counting: Counting, runs: tuple[RunRow, ...]) -> Usage:
    """What the conversations have cost that runs have reported from."""
    return sum(counting.spent({each.session for each in runs if each.session}).values(), Usage())


def _turn(counting: Counting, ends: Latest) -> Usage:
    """What the turn cost that ended last."""
    told = counting.told(ends.session, ("Asked", *COSTS))
    began = max((n for n, fact in told if isinstance(fact, Asked) and n < ends.n), default=-1)
    return sum((_usage(fact) for n, fact in told if began < n < ends.n), Usage())


def _usage(fact: Kept) -> Usage:
    return fact.usage if isinstance(fact, Replied | Failed | Interrupted | Compressed | Spent) else Usage()


def _summary(counting: Counting, made: Latest) -> Summary:
    """The last compression, and the model calls of the conversation since: it may go on in another session."""
    told = counting.told(made.session, ("Compressed", "Continued"), made.n)
    read = counting.after("Replied", made.session, made.n)
    summary = Summary()
    for _, fact in told:
        match fact:
            case Compressed(before=before, after=after, usage=usage):
                summary = Summary(before, after, usage)
            case Continued(session):
                read += counting.after("Replied", session)
    return Summary(summary.before, summary.after, summary.usage, read)
