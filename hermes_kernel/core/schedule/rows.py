"""What became of each instant, one row each: a fold of the kept facts, which the view ``job_runs`` tells in SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hermes_kernel.core.learnt import Dated
from hermes_kernel.core.planned import RunBegan, RunEnded, RunWanted, Skipped, Told
from hermes_kernel.core.schedule.ledger import ORPHANED

WAITING, RUNNING, SKIPPED = "waiting", "running", "skipped"
Id = tuple[str, str]
"""A job's and a run's."""
SHORT = 8  # characters of a job's id that a run's begins with


@dataclass(frozen=True, slots=True)
class RunRow:
    """An instant of ``job``, which is called ``name``, or a run that somebody ``asked`` for. Times are in seconds since
    1970, None where it never was. ``outcome`` is one of `planned.OUTCOMES`, ``running``, or ``waiting``: asked for, and
    not begun. ``told`` is how many targets its report has reached, ``untold`` how many it could not be sent to."""

    job: str
    run: str
    due: float
    name: str = ""
    asked: bool = False
    began: float | None = None
    ended: float | None = None
    outcome: str = WAITING
    why: str = ""
    session: str = ""
    notebook: str = ""
    silent: bool = False
    told: int = 0
    untold: int = 0

    @property
    def seconds(self) -> float | None:
        """How long it took; None where it did not run, or has not ended."""
        return None if self.began is None or self.ended is None else max(self.ended - self.began, 0.0)


@dataclass(slots=True)
class _Found:
    """Rows by job and run, and which targets each report went to."""

    rows: dict[Id, RunRow] = field(default_factory=dict)
    reached: defaultdict[Id, set[str]] = field(default_factory=lambda: defaultdict(set))
    refused: defaultdict[Id, set[str]] = field(default_factory=lambda: defaultdict(set))

    def row(self, job: str, run: str, due: float) -> RunRow:
        return self.rows.get((job, run)) or RunRow(job, run, due)

    def keep(self, row: RunRow) -> None:
        self.rows[row.job, row.run] = row


def rows(facts: Iterable[Dated], names: Mapping[str, str]) -> tuple[RunRow, ...]:
    """A row for each run id that these facts tell of, the newest instant first; ``names`` are those of jobs. What is
    said twice counts once, by what was said first; an instant that ran was not skipped."""
    found = _Found()
    for each in facts:
        _told(found, each)
    whole = (replace(row, name=names.get(row.job, ""), **_counts(found, row)) for row in found.rows.values())
    return tuple(sorted(whole, key=lambda row: (row.due, row.run, row.job), reverse=True))


def _told(found: _Found, each: Dated) -> None:
    match each.fact:
        case RunWanted(job, run) if (job, run) not in found.rows:
            found.keep(RunRow(job, run, each.t, asked=True))
        case RunBegan(job, run, due):
            _begun(found, each.fact, each.t, found.row(job, run, due))
        case RunEnded(job, run, due):
            _ended(found, each.fact, each.t, found.row(job, run, due))
        case Skipped():
            _skipped(found, each.fact, each.t)
        case Told(job, run, target, failed):
            (found.refused if failed else found.reached)[job, run].add(target)


def _begun(found: _Found, fact: RunBegan, t: float, row: RunRow) -> None:
    if row.began is not None:
        return
    if row.outcome in {WAITING, SKIPPED}:
        row = replace(row, outcome=RUNNING, why="", ended=None)
    found.keep(replace(row, due=fact.due, asked=fact.asked, began=t, notebook=fact.notebook))


def _ended(found: _Found, fact: RunEnded, t: float, row: RunRow) -> None:
    """Its first end is its end, unless that was a guess."""
    guessed = row.why == ORPHANED and fact.why != ORPHANED
    if row.ended is None or row.outcome == SKIPPED or guessed:
        ended = replace(row, ended=t, outcome=fact.outcome, why=fact.why, session=fact.session, silent=fact.silent)
        found.keep(ended)


def _skipped(found: _Found, fact: Skipped, t: float) -> None:
    for due in fact.due:
        run = skipped_id(fact.job, due)
        if (fact.job, run) not in found.rows:
            found.keep(RunRow(fact.job, run, due, ended=t, outcome=SKIPPED, why=fact.why))


def _counts(found: _Found, row: RunRow) -> dict[str, int]:
    reached, refused = found.reached.get((row.job, row.run), set()), found.refused.get((row.job, row.run), set())
    return {"told": len(reached), "untold": len(refused - reached)}


def skipped_id(job: str, due: float) -> str:
    """What the run of an instant would have been called."""
    return f"{job[:SHORT]}-{datetime.fromtimestamp(due, UTC):%Y%m%dT%H%M%SZ}"
