"""What became of each instant, one row each: a fold of the kept facts, which the view ``job_runs`` tells in SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hermes_kernel.core.learnt import Dated
from hermes_kernel.core.planned import RunBegan, RunEnded, RunWanted, Skipped, Told
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.ledger import is_end, last_of, plans

WAITING, RUNNING, SKIPPED = "waiting", "running", "skipped"


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


def called(facts: Iterable[Dated]) -> dict[str, str]:
    """What each job is called that there is or was, by its id."""
    return {job: last.name for job, its in plans(facts).items() if (last := last_of(its))}


def rows(facts: Iterable[Dated], names: Mapping[str, str]) -> tuple[RunRow, ...]:
    """A row for each run id that these facts, in order of time, tell of, the newest instant first; ``names`` are those
    of jobs. What is said twice counts once, by what was said first; an instant that ran was not skipped."""
    found: defaultdict[tuple[str, str], _Known] = defaultdict(_Known)
    for each in facts:
        _tell(found, each)
    told = (_row(job, run, known, names.get(job, "")) for (job, run), known in found.items() if known.is_one)
    return tuple(sorted(told, key=lambda row: (row.due, row.run, row.job), reverse=True))


@dataclass(slots=True)
class _Known:
    """What was told of one run id."""

    wanted: float | None = None
    began: RunBegan | None = None
    began_at: float | None = None
    ended: RunEnded | None = None
    ended_at: float | None = None
    skipped: tuple[float, str] | None = None
    reached: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    @property
    def is_one(self) -> bool:
        """There is more than that somebody was told of it."""
        return bool(self.began or self.ended or self.skipped) or self.wanted is not None


def _tell(found: defaultdict[tuple[str, str], _Known], each: Dated) -> None:
    match each.fact:
        case RunWanted(job, run):
            known = found[job, run]
            known.wanted = float(int(each.t)) if known.wanted is None else known.wanted
        case RunBegan(job, run) if found[job, run].began is None:
            found[job, run].began, found[job, run].began_at = each.fact, each.t
        case RunEnded(job, run) if is_end(each.fact, found[job, run].ended):
            found[job, run].ended, found[job, run].ended_at = each.fact, each.t
        case Skipped(job, dues, why):
            for due in dues:
                known = found[job, run_id(job, due)]
                known.skipped = known.skipped or (due, why)
        case Told(job, run, target, failed):
            (found[job, run].refused if failed else found[job, run].reached).add(target)


def _row(job: str, run: str, known: _Known, name: str) -> RunRow:
    began, ended = known.began, known.ended
    due, why = known.skipped or (known.wanted or 0.0, "")
    return RunRow(
        job,
        run,
        began.due if began else ended.due if ended else due,
        name,
        asked=began.asked if began else known.wanted is not None,
        began=known.began_at,
        ended=known.ended_at,
        outcome=_outcome(known),
        why=ended.why if ended else "" if began else why,
        session=ended.session if ended else "",
        notebook=began.notebook if began else "",
        silent=bool(ended and ended.silent),
        told=len(known.reached),
        untold=len(known.refused - known.reached),
    )


def _outcome(known: _Known) -> str:
    if known.ended:
        return known.ended.outcome
    if known.began:
        return RUNNING
    return SKIPPED if known.skipped else WAITING
