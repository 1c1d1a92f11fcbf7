"""Jobs and their runs as a model is told of them: a line each, bounded, in which nothing hides."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.rows import RunRow
from hermes_kernel.core.schedule.saying import moment
from hermes_kernel.core.text import brief
from hermes_kernel.scheduling.standing import Standing
from hermes_kernel.world.tools.approvals import visible

LISTED = 20
CHARS = 160  # of one text in a line
NOTHING = "There are no jobs yet. `add` makes one."


def listed(standings: Sequence[Standing]) -> str:
    """A line for each job: the state, when, next, how the last run ended, what it does."""
    lines = [_line(each) for each in standings[:LISTED]]
    return _joined(lines, len(standings), NOTHING)


def ran(rows: Sequence[RunRow]) -> str:
    """A line for each instant, the newest first."""
    return _joined([_ran(row) for row in rows], len(rows), "Nothing has run yet.")


def coming(standings: Sequence[Standing]) -> str:
    """What runs next, the soonest first."""
    soon = sorted((each for each in standings if each.next), key=lambda each: each.next[0])
    lines = [f"{moment(each.next[0], each.job.zone)}: {each.job.name}" for each in soon[:LISTED]]
    return _joined(lines, len(soon), "Nothing is due.")


def made(job: Job, understood: str) -> str:
    """What was understood of a job that was made or changed."""
    return f"{job.name} ({job.id[:8]}): {understood}\nreports to: {', '.join(job.deliver)}"


def _line(each: Standing) -> str:
    job = each.job
    following = f"next {moment(each.next[0], job.zone)}" if each.next else ""
    last = f"last {each.outcome}{f' ({_clean(each.why)})' if each.why else ''}" if each.outcome else ""
    does = _clean(job.prompt or job.notebook)
    state = f"running as {each.running}" if each.running else each.state
    return f"{job.name}: {'; '.join(filter(None, (state, each.sentence, following, last, does)))}"


def _ran(row: RunRow) -> str:
    took = f" in {row.seconds:.0f} s" if row.seconds is not None else ""
    why = f": {_clean(row.why)}" if row.why else ""
    told = f"; could not be sent to {row.untold}" if row.untold else ""
    return f"{row.run} ({row.name}): {row.outcome}{took}{why}{told}"


def _joined(lines: list[str], count: int, nothing: str) -> str:
    more = [f"[{count - len(lines)} more]"] if count > len(lines) else []
    return "\n".join([*lines, *more]) or nothing


def _clean(text: str) -> str:
    return brief(visible(text), CHARS)
