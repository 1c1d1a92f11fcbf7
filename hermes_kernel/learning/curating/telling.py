"""What faces say of the curator: where it stands, and what a run or a plan comes to. Texts only, made harmless."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.curating import AGENT, Life
from hermes_kernel.core.learning.curating_report import diff
from hermes_kernel.core.learning.curating_runs import DID, DONE, RUNNING, Run, plain, words
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief
from hermes_kernel.learning.curating.curator import Curator

REASON = 200  # characters


def standing(curator: Curator) -> tuple[tuple[str, str], ...]:
    """Names and what they stand for.

    Raises:
        StoreError: the store cannot be read.
    """
    status = curator.status()
    rows = [
        ("last run", _last(status.last) if status.last else "none yet"),
        ("next run", minute(status.next) if status.next else "not known yet"),
        ("held by", status.holds or "nothing: it runs when a kernel next looks"),
        ("skills", _census(curator.lives())),
    ]
    waiting = curator.waiting()
    rows += [("waits for consent", ", ".join(each.id for each in waiting))] if waiting else []
    rows += [("trouble", status.trouble)] if status.trouble else []
    return tuple((name, brief(clean(said), REASON)) for name, said in rows)


def _last(run: Run) -> str:
    if run.status == RUNNING:
        return f"{minute(run.began)}: it is under way, or its process has ended and the next run closes it"
    return f"{minute(run.began)}: {words(run)}{'' if run.status == DONE else f' ({run.status}: {run.why})'}"


def _census(lives: Sequence[Life]) -> str:
    own = Counter(life.state.value for life in lives if life.origin == AGENT)
    others = sum(life.origin != AGENT for life in lives)
    made = ", ".join(f"{count} {state}" for state, count in sorted(own.items())) or "none"
    return f"made by the agent: {made}; others, which never move: {others}"


def as_json(curator: Curator) -> dict[str, Any]:
    """The same for a program."""
    status = curator.status()
    return {
        "last": plain(status.last) if status.last else None, "next": status.next or None, "due": status.due,
        "holds": status.holds, "trouble": status.trouble, "waiting": [asdict(each) for each in curator.waiting()],
    }  # fmt: skip


def rehearsal(run: Run) -> str:
    """A plan that was not carried out, as a diff."""
    spent = f" ({counted(run.calls, 'model call')}, {run.tokens:,} tokens)" if run.calls else ""
    held = f"{counted(len(run.held), 'skill')} never {'moves' if len(run.held) == 1 else 'move'}."
    return "\n".join(filter(None, (diff(run.steps) or "Nothing to do.", "", f"{run.asked}{spent}", held)))


def outcome(run: Run) -> str:
    """What came of a run, in a few lines."""
    left = [f"{step.name}: {step.outcome}: {step.said}" for step in run.steps if step.outcome != DID]
    changed = [f"{step.name}: {step.said}" for step in run.done if step.said]
    back = f"`hermes-kernel curator rollback {run.id}` takes it back." if run.done else ""
    lines = (f"{run.id}: {words(run)}.", run.why, run.asked, *left, *changed, back)
    return "\n".join(brief(clean(line), REASON) for line in lines if line)


def readable(report: str) -> str:
    """The page of a run as text, whose marks need no escapes."""
    return clean(html.unescape(report))
