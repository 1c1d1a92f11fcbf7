"""A run for a person to read: ``REPORT.md``, and the plan as a diff. Names and reasons are a model's or a stranger's,
so each is a mere text here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.curating_runs import DID, INTERRUPTED, PATCH, Review, Run, Step, sentence
from hermes_kernel.core.safe import clean, inert
from hermes_kernel.core.text import brief

LINE = 300  # characters of a name or a reason
HELD = 50  # held skills that are named


def report(run: Run) -> str:
    """The page."""
    return "\n".join([*_head(run), *_steps(run), *_reviews(run), *_held(run), ""])


def _head(run: Run) -> Iterator[str]:
    what = "Rollback" if run.action == "rollback" else "Curator"
    yield f"# {what}, {minute(run.began)}"
    yield ""
    yield f"{_text(sentence(run))} Status: {_text(run.status)}; by: {_text(run.by)}."
    if int(run.now) != int(run.began):
        yield f"The plan was made as of {minute(run.now)}."
    if run.why:
        yield _text(run.why)
    if run.status == INTERRUPTED:
        yield "It ended before its end; every skill is whole. The next run does what was left."
    if run.asked:
        yield _text(run.asked)
    yield ""
    if run.done and run.status != "running":
        yield f"Nothing was deleted. To take all of it back: `hermes-kernel curator rollback {_text(run.id)}`."
        yield ""


def _steps(run: Run) -> Iterator[str]:
    if not run.steps:
        return
    yield f"## {counted(len(run.steps), 'step')}"
    yield ""
    for step in run.steps:
        outcome = "" if step.outcome == DID else f" — {_text(step.outcome)}"
        said = f" ({_text(step.said)})" if step.said else ""
        yield f"- {_text(_what(step))}: {_text(step.why)}{outcome}{said}"
    yield ""
    for step in run.steps:
        if step.diff:
            yield from (f"### {_text(step.name)}", "", *_fence(step.diff), "")


def _reviews(run: Run) -> Iterator[str]:
    if not run.reviews:
        return
    spent = f"{counted(run.calls, 'model call')}, {counted(run.tokens, 'token')}"
    yield f"## {counted(len(run.reviews), 'review')} ({spent})"
    yield ""
    for review in run.reviews:
        yield f"- {_reviewed(review)}"
    yield ""


def _reviewed(review: Review) -> str:
    names = _text(" and ".join(review.skills))
    alike = f" ({review.score:.0%} alike)" if review.score else ""
    said = f"no verdict: {review.trouble}" if review.trouble else f"{review.verdict}: {review.reason}"
    return f"{names}{alike}: {_text(said)}"


def _held(run: Run) -> Iterator[str]:
    if not run.held:
        return
    yield f"## {counted(len(run.held), 'skill')} that never {'moves' if len(run.held) == 1 else 'move'}"
    yield ""
    yield from (f"- {_text(name)}: {_text(why)}" for name, why in run.held[:HELD])
    if len(run.held) > HELD:
        yield f"- and {len(run.held) - HELD:,} more, in run.json"
    yield ""


def diff(steps: Iterable[Step]) -> str:
    """What the steps would change: moves of folders, and texts as a unified diff."""
    return "\n".join(line for step in steps for line in _changes(step))


def _changes(step: Step) -> Iterator[str]:
    yield _line(f"{_what(step)}    # {step.why}")
    if step.diff:
        yield from (clean(line) for line in step.diff.splitlines())


def _what(step: Step) -> str:
    if step.kind == PATCH:
        return f"patch skills/{step.name}/SKILL.md"
    if step.after == "archived":
        into = f" (now in {step.into})" if step.into else ""
        return f"skills/{step.name} → skills/.archive/{step.name}{into}"
    if step.before == "archived":
        return f"skills/.archive/{step.name} → skills/{step.name}"
    return f"{step.name}: {step.before} → {step.after}" if step.after else step.name


def _line(text: str) -> str:
    return brief(clean(text), LINE)


def _text(text: str) -> str:
    return inert(_line(text))


def _fence(text: str) -> Iterator[str]:
    """A block of code that nothing in it ends."""
    lines = clean(text).splitlines()
    longest = max((len(line) - len(line.lstrip(" +-`")) + line.count("`") for line in lines), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}diff", *lines, fence)
