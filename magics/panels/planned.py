"""What the panels of jobs and runs show: rows of a list, and pages. Knows no control and reads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hermes_kernel.core.figures import span
from hermes_kernel.core.schedule.rows import RUNNING, WAITING, RunRow
from hermes_kernel.core.schedule.run_names import short
from hermes_kernel.core.schedule.saying import moment
from hermes_kernel.core.text import brief
from hermes_kernel.scheduling.faces.telling import NO_JOBS, NO_RUNS, Told, does, took
from hermes_kernel.scheduling.standing import Standing
from hermes_kernel.view import escape
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.kept.pages import facts, words
from hermes_kernel.view.kept.spread import columns
from hermes_kernel.view.look import QUIET
from hermes_kernel.view.markup import hint, marked, opens, quiet
from hermes_kernel.view.rendered import markdown_html

NAME, WHY, LINE = 40, 160, 200  # characters of each in a row or a line
BAD = frozenset({"failed"})
PATH = "overflow-wrap:anywhere;white-space:normal"
MARKS = re.compile(r"[*`#]+")
ALIVE = frozenset({RUNNING, WAITING})


def moments(times: Iterable[float], zone: str) -> str:
    """One below the other, as clocks in that zone show them."""
    return "\n".join(moment(t, zone) for t in times)


# --- jobs


def job_options(jobs: Sequence[Standing]) -> list[tuple[str, str]]:
    """A row for each job, by its id."""
    cells = [(brief(each.job.name, NAME), _state(each), _next(each), _last(each)) for each in jobs]
    return list(zip(aligned(("", "", "", ""), cells), (each.job.id for each in jobs), strict=True))


def _state(job: Standing) -> str:
    return "asked for" if job.waiting and not job.running else job.state


def _next(job: Standing) -> str:
    return moment(job.next[0], job.job.zone) if job.next else "not due"


def _last(job: Standing) -> str:
    return f"last {job.outcome}" if job.outcome else ""


def job_page(job: Standing | None, runs: Sequence[RunRow], now: float) -> str:
    """All that matters of one job, and its latest runs."""
    if job is None:
        return hint(NO_JOBS)
    zone = job.job.zone
    running = f"since {moment(job.since, zone)}, {_lasting(now - job.since)}" if job.running else ""
    rows = (
        ("when", job.sentence),
        ("next", moments(job.next, zone) or ("paused" if not job.job.enabled else "never")),
        ("runs now", running or ("asked for, not begun yet" if job.waiting else "")),
        ("last", f"{job.outcome}, {moment(job.at, zone)}" if job.outcome else "not yet"),
    )
    why = marked(brief(job.why, LINE), "bad") if job.why and job.outcome in BAD else quiet(brief(job.why, LINE))
    asked = words(job.job.prompt) if not job.job.notebook else words(does(job.job))
    return facts(rows) + why + _titled("does", asked) + _titled("latest runs", runs_html(runs, zone))


def _lasting(seconds: float) -> str:
    return f"{span(seconds)} so far"


def _titled(name: str, html: str) -> str:
    return f'<div style="margin-top:0.5em;color:{QUIET}">{escape(name)}</div>{html}' if html else ""


def runs_html(runs: Sequence[RunRow], zone: str) -> str:
    """A line for each run, whose parts stand below one another where there is no room."""
    return "".join(
        columns(
            (escape(moment(row.due, zone)), "0 0 16em"),
            (escape(", ".join(filter(None, (row.outcome, took(row))))), "0 0 8em"),
            (escape(brief(row.why, WHY)), "1 1 15em"),
        )
        for row in runs
    )


# --- when


def understood_html(told: Told) -> str:
    """What a time was understood as, and when it comes next."""
    times = "".join(f"<div>{escape(row[0])}</div>" for row in told.rows)
    return f"<div>{escape(told.note)}</div>" + (times or quiet("never"))


# --- runs


def run_options(rows: Sequence[RunRow], zone: str) -> list[tuple[str, str]]:
    """A row for each run, by its id."""
    cells = [(brief(row.name or row.job, NAME), row.outcome, moment(row.due, zone), took(row)) for row in rows]
    return list(zip(aligned(("", "", "", ""), cells), (row.run for row in rows), strict=True))


def run_page(told: Told | None, now: float) -> str:
    """All about one run, as `faces.doing.about` tells it."""
    if told is None or not isinstance(told.value, RunRow):
        return hint(NO_RUNS)
    row = told.value
    rows = [(name, said) for name, said in told.rows if name not in ("run", "why", "notebook")]
    so_far = [("so far", span(now - row.began))] if row.outcome == RUNNING and row.began is not None else []
    why = marked(brief(row.why, LINE), "bad") if row.why and row.outcome in BAD else quiet(brief(row.why, LINE))
    return facts([("run", short(row.run)), *rows, *so_far]) + why + _report(told.text)


def _report(text: str) -> str:
    """What it said, in brief; all of it when it is opened."""
    if not text.strip():
        return ""
    whole = f"<div>{markdown_html(text)}</div>"
    if len(text) <= LINE and "\n" not in text.strip():
        return _titled("report", whole)
    first = MARKS.sub("", text.strip().split("\n\n")[0])
    return opens(f"report: {escape(brief(first, LINE))}", whole, 'style="margin-top:0.5em"')


def notebook_html(row: RunRow, link: str) -> str:
    """The way to what a run left: a link that the page can follow, or where it lies."""
    if not row.notebook:
        return ""
    if link:
        return f'<a href="{escape(link)}" rel="noopener noreferrer">open its notebook</a>'
    path = escape(brief(row.notebook, 4_000))
    return f'<span style="color:{QUIET}">its notebook: </span><code style="{PATH}">{path}</code>'
