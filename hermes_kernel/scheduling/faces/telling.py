"""What is told of jobs and their runs: rows and lines for people, who see their own zone, and JSON for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hermes_kernel.core.figures import counted, span
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.rows import RUNNING, SKIPPED, WAITING, RunRow
from hermes_kernel.core.schedule.run_names import short
from hermes_kernel.core.schedule.saying import moment
from hermes_kernel.core.text import brief
from hermes_kernel.scheduling.standing import Standing
from hermes_kernel.scheduling.times import Ahead, moments, sentence_of
from hermes_kernel.world.zone import local_name

PROMPT, WHY, SENTENCE = 400, 120, 60  # characters that are shown of each
NO_JOBS = "There are no jobs. `schedule add WHEN PROMPT` makes one, such as: every monday 9am, in 90 minutes."
NO_RUNS = "Nothing has run yet, and nothing was skipped. `schedule run NAME` runs a job now, whatever its times."
ONE_RUN = "`schedule runs RUN` shows all about one, and where its notebook is."
WATCHED = (
    "Jobs run as long as a notebook is open; `hermes-kernel scheduler` or `hermes-kernel tick` in cron does without."
)
UNWATCHED = (
    "Nobody watches over jobs now: an open notebook does, `hermes-kernel scheduler`, or `hermes-kernel tick` in cron."
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a face shows: rows under columns, ``text`` as it stands, a ``note``. ``value`` is what a program in Python
    wants of it, ``plain`` the same as JSON."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    text: str = ""
    note: str = ""
    value: Any = None
    plain: Any = None


# --- times


def at(t: float | None, zone: str) -> str:
    """An instant as people in that zone say it; nothing where there is none."""
    return "" if t is None else moment(t, zone)


def iso(t: float | None) -> str | None:
    """An instant for a program."""
    return None if t is None else datetime.fromtimestamp(t, UTC).isoformat().replace("+00:00", "Z")


# --- a job


def made(job: Job, ahead: Ahead, more: str = "") -> Told:
    """What was understood of a job, its next times, and what becomes of them if nothing is there to run it."""
    times = ahead.times
    rows = (
        ("job", job.name), ("when", sentence_of(job)), ("next", ahead.text),
        ("does", does(job)), *((("state", "paused"),) if not job.enabled else ()),
    )  # fmt: skip
    plain = {"job": job_plain(job), "sentence": sentence_of(job), "next": [iso(t) for t in times]}
    note = " ".join(filter(None, (missed(job, once=len(times) == 1) if times else "", more)))
    return Told(("", ""), rows, note=note, value=job, plain=plain)


def missed(job: Job, *, once: bool) -> str:
    """What becomes of a time at which nothing was there to run the job; ``once``: there is but one."""
    late = "" if job.grace is None else f" of {span(job.grace)}"
    match job.misfire:
        case "skip":
            then = f"a time is skipped, unless something is there within its grace{late}"
        case "all" if not once:
            then = "each missed time is run later, the oldest first"
        case _ if once:
            then = "it runs as soon as something is"
        case _:
            then = "the latest missed time runs as soon as something is, and the others are skipped"
    return f"If nothing is there to run it then, {then}."


def does(job: Job) -> str:
    """What a run of it does, in a line."""
    if not job.notebook:
        return brief(job.prompt, PROMPT)
    given = ", ".join(f"{each.name}={brief(each.value, 40)}" for each in job.parameters)
    return f"runs {job.notebook}" + (f" with {given}" if given else "")


def listed(jobs: Sequence[Standing]) -> Told:
    """A line for each job."""
    rows = tuple((s.job.name, brief(s.sentence, SENTENCE), _next(s), _last(s), s.state) for s in jobs)
    columns = ("job", "when", "next", "last", "state") if rows else ()
    return Told(columns, rows, note="" if rows else NO_JOBS, value=tuple(jobs), plain=[standing_plain(s) for s in jobs])


def _next(standing: Standing) -> str:
    return at(next(iter(standing.next), None), standing.job.zone)


def _last(standing: Standing) -> str:
    return f"{standing.outcome}, {at(standing.at, standing.job.zone)}" if standing.outcome else ""


def shown(standing: Standing, runs: Sequence[RunRow]) -> Told:
    """All about one job, and its latest runs."""
    job = standing.job
    rows: tuple[tuple[str, str], ...] = (
        ("job", job.name), ("id", job.id), ("when", standing.sentence), ("state", _state(standing)),
        ("next", moments(standing.next, job.zone)), ("last", _last(standing)), ("", standing.why),
        ("does", does(job)), ("skills", ", ".join(job.skills)),
        ("tools", "" if job.tools is None else ", ".join(job.tools) or "none"),
        ("model", job.model), ("budget", counted(job.budget, "model call") if job.budget else ""),
        ("folder", job.folder), ("runs", _counted(standing)), ("missed times", _misfire(job)),
        ("jitter", f"up to {span(job.jitter)}" if job.jitter else ""),
        ("may take", span(job.timeout) if job.timeout else "as long as it wants"),
        ("tells", ", ".join(job.deliver)), ("tools that ask", "allowed" if job.approvals == "allow" else "denied"),
        ("may make jobs", "yes" if job.jobs else ""), ("keeps", counted(job.keep, "notebook")),
        ("runs in", "this home" if job.place else "any home with this store"),
    )  # fmt: skip
    plain = standing_plain(standing) | {"recent": [run_plain(row) for row in runs]}
    whole = job.prompt if job.prompt != does(job) else ""
    return Told(("", ""), tuple(row for row in rows if row[1]), text=whole, value=standing, plain=plain)


def _state(standing: Standing) -> str:
    if standing.running:
        return f"running since {at(standing.since, standing.job.zone)}: {short(standing.running)}"
    waiting = f", {counted(len(standing.waiting), 'run')} asked for" if standing.waiting else ""
    return standing.state + waiting


def _counted(standing: Standing) -> str:
    most = f" of {standing.job.repeat:,}" if standing.job.repeat else ""
    return f"{standing.runs:,}{most} at its times, besides those asked for"


def _misfire(job: Job) -> str:
    words = {"skip": "are skipped", "once": "the latest runs, others are skipped", "all": "each runs, the oldest first"}
    grace = "" if job.grace is None else f"; {span(job.grace)} late is on time"
    return words.get(job.misfire, job.misfire) + grace


# --- runs


def ran(rows: Sequence[RunRow], zone: str) -> Told:
    """A line for each instant, the newest first."""
    cells = tuple(
        (row.name or brief(row.job, 8), short(row.run), at(row.due, zone), row.outcome, took(row), brief(row.why, WHY))
        for row in rows
    )
    columns = ("job", "run", "due", "outcome", "took", "why") if cells else ()
    plain = [run_plain(row) for row in rows]
    return Told(columns, cells, note=ONE_RUN if cells else NO_RUNS, value=tuple(rows), plain=plain)


def took(row: RunRow) -> str:
    """How long a run took, or that it goes on."""
    if row.outcome in (RUNNING, WAITING, SKIPPED) or row.seconds is None:
        return ""
    return span(row.seconds)


def run(row: RunRow, report: str, told: Iterable[tuple[str, str]], zone: str) -> Told:
    """All about one run: ``told`` are the targets of its report, each with why it was not reached, if it was not."""
    told = tuple(told)
    targets = "; ".join(f"{target} (not reached: {failed})" if failed else target for target, failed in told)
    rows: tuple[tuple[str, str], ...] = (
        ("run", row.run), ("job", row.name or row.job), ("due", at(row.due, zone) + " (asked for)" * row.asked),
        ("began", at(row.began, zone)), ("took", took(row)), ("outcome", row.outcome), ("why", row.why),
        ("notebook", row.notebook), ("conversation", row.session),
        ("told", targets or ("no one: it asked for silence" if row.silent else "")),
    )  # fmt: skip
    plain = run_plain(row) | {
        "report": report,
        "targets": [{"target": target, "failed": failed} for target, failed in told],
    }
    return Told(("", ""), tuple(each for each in rows if each[1]), text=report, value=row, plain=plain)


def ticked(handled: Sequence[Any], upcoming: float | None) -> Told:
    """What a tick has done, and in a line when to look next: something is due then, or others may be done with it. An
    agenda that a full disk did not take says "now"."""
    lines = [str(each) for each in handled]
    coming = f"next look: {at(upcoming, local_name()) if upcoming else 'now'}"
    coming = "nothing is planned" if upcoming is None else coming
    note = coming if lines else f"nothing to do; {coming}"
    return Told(note=note, value=tuple(handled), plain={"handled": lines, "next": iso(upcoming or None)})


# --- for programs


def job_plain(job: Job) -> dict[str, Any]:
    """A job as JSON: its fields, times as ISO in UTC."""
    return dataclasses.asdict(job) | {"since": iso(job.since)}


def standing_plain(standing: Standing) -> dict[str, Any]:
    """Where a job stands, as JSON."""
    return {
        "job": job_plain(standing.job),
        "sentence": standing.sentence,
        "state": standing.state,
        "next": [iso(t) for t in standing.next],
        "outcome": standing.outcome,
        "at": iso(standing.at or None),
        "why": standing.why,
        "running": standing.running,
        "waiting": list(standing.waiting),
        "runs": standing.runs,
    }


def run_plain(row: RunRow) -> dict[str, Any]:
    """A run as JSON."""
    times = {name: iso(getattr(row, name)) for name in ("due", "began", "ended")}
    return dataclasses.asdict(row) | times | {"seconds": row.seconds}
