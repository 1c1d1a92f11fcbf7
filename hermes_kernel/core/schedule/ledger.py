"""What jobs there are, and what became of the instants of each: folds of kept facts.

Facts that arrive late, twice or in another order give the same ledger, for machines have clocks of their own. Time
decides only which `JobSet` of a job is the last, and which of two ends of a run came first; of one moment, the order
in which they are given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hermes_kernel.core.learnt import Dated, Lesson
from hermes_kernel.core.planned import (
    PLANS,
    SHORT,
    JobRemoved,
    JobSet,
    RunBegan,
    RunEnded,
    RunWanted,
    Settled,
    Skipped,
    StopWanted,
    Told,
)
from hermes_kernel.core.schedule.job import Job


@dataclass(frozen=True, slots=True)
class Plan:
    """From ``t`` on the job is this; None: it is no more."""

    t: float
    job: Job | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """``by`` wants the run ``run``, which has not begun, since ``due``."""

    run: str
    due: float
    by: str = "person"


@dataclass(frozen=True, slots=True)
class Tries:
    """What was done to tell one target: it is ``done``, or ``attempts`` failed, the last of them at ``at``."""

    attempts: int = 0
    at: float = 0.0
    done: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """A run that ended at ``at`` and wrote ``notebook``, and what was done to tell of it, by target."""

    fact: RunEnded
    at: float
    notebook: str = ""
    tries: Mapping[str, Tries] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What became of a job's instants. Every one up to ``through`` is in the record; ``runs`` of them were begun by the
    schedule, and ``missed`` were let go of since the last that was. ``open`` is the run that has begun, at ``opened``,
    and not ended, ``wanted`` are those that somebody asked for and that have not begun, oldest first, ``stops`` says by
    whom a run is to be stopped, ``endings`` are the runs of which somebody may have to be told, oldest first. ``last``
    is how the last run ended, at ``at``; ``busy`` is from when until when it is known to have gone on. ``settled`` is
    the fact before which nothing counts, ``facts`` how many came after it; ``plans`` is everything that the job ever
    was."""

    through: float = 0.0
    runs: int = 0
    missed: int = 0
    open: RunBegan | None = None
    opened: float = 0.0
    wanted: tuple[Wanted, ...] = ()
    stops: Mapping[str, str] = field(default_factory=dict)
    endings: tuple[Ending, ...] = ()
    last: RunEnded | None = None
    at: float = 0.0
    busy: tuple[float, float] = (0.0, 0.0)
    settled: Dated | None = None
    facts: int = 0
    plans: tuple[Plan, ...] = ()

    @property
    def removed(self) -> bool:
        """The job is no more."""
        return bool(self.plans) and self.plans[-1].job is None

    @property
    def job(self) -> Job | None:
        """What the job is, or was before it was removed; None where nobody told."""
        return last_of(self.plans)

    def job_at(self, t: float) -> Job | None:
        """What the job was at `t`; before it was made, what it was made as; None where nobody told."""
        jobs = [(plan.t, plan.job) for plan in self.plans if plan.job]
        return next((job for at, job in reversed(jobs) if at <= t), jobs[0][1] if jobs else None)


def jobs(facts: Iterable[Dated]) -> dict[str, Job]:
    """The jobs that there are, by id, oldest first."""
    return {job: plans[-1].job for job, plans in plans(facts).items() if plans[-1].job}


def plans(facts: Iterable[Dated]) -> dict[str, tuple[Plan, ...]]:
    """Everything that each job ever was, by id, the job first made first. One that was removed stays so."""
    found: defaultdict[str, list[Plan]] = defaultdict(list)
    for each in sorted(facts, key=order):
        match each.fact:
            case JobSet(job):
                found[job.id].append(Plan(each.t, job))
            case JobRemoved(job):
                found[job].append(Plan(each.t, None))
    return {job: _until_removed(told) for job, told in found.items()}


def order(each: Dated) -> float:
    """By this, what was told of a job is in the order in which it was meant: who changes one knows what it was."""
    return max(each.t, each.fact.after if isinstance(each.fact, PLANS) else 0.0)


def last_of(plans: Iterable[Plan]) -> Job | None:
    """What the job of these was last, also where it is no more; None where nobody told."""
    return next((plan.job for plan in reversed(tuple(plans)) if plan.job), None)


def _until_removed(told: list[Plan]) -> tuple[Plan, ...]:
    """What came before the first removal, and that; a change that was made at the same time elsewhere came too late."""
    gone = next((n for n, plan in enumerate(told) if not plan.job), None)
    return tuple(dict.fromkeys(told if gone is None else told[: gone + 1]))


def ledgers(facts: Iterable[Dated]) -> dict[str, Ledger]:
    """The ledger of each job that these facts tell of, by id."""
    told = sorted(facts, key=_time)
    known = plans(told)
    stops = [each.fact for each in told if isinstance(each.fact, StopWanted)]
    accounts: dict[str, _Account] = {job: _Account() for job in known}
    for each in dict.fromkeys(told):
        job = job_of(each.fact)
        if job and not isinstance(each.fact, PLANS):
            accounts.setdefault(job, _Account()).tell(each)
    return {job: account.ledger(_stops(job, stops), known.get(job, ())) for job, account in accounts.items()}


def _time(each: Dated) -> float:
    return each.t


def job_of(fact: Lesson) -> str:
    """The id of the job that it tells of; nothing for a wish to stop, which names a run."""
    match fact:
        case JobSet(job):
            return job.id
        case JobRemoved(job) | RunWanted(job) | RunBegan(job) | RunEnded(job) | Skipped(job) | Told(job) | Settled(job):
            return job
    return ""


def _stops(job: str, stops: Iterable[StopWanted]) -> dict[str, str]:
    """Who first wanted each run of the job stopped."""
    found: dict[str, str] = {}
    for stop in stops:
        if stop.run.startswith(f"{job[:SHORT]}-"):
            found.setdefault(stop.run, stop.by)
    return found


def is_end(fact: RunEnded, before: RunEnded | None) -> bool:
    """Whether it is the end of a run of which ``before`` was told: the first is, unless that was a guess."""
    return before is None or (before.guessed and not fact.guessed)


@dataclass(slots=True)
class _Run:
    """What was told of one run."""

    wanted: Wanted | None = None
    began: RunBegan | None = None
    began_at: float = 0.0
    ended: RunEnded | None = None
    ended_at: float = 0.0
    tries: dict[str, Tries] = field(default_factory=dict)

    @property
    def busy(self) -> tuple[float, float]:
        """From when until when it went on, as far as that is known."""
        known = self.began and self.ended and not self.ended.guessed
        return (self.began_at, self.ended_at) if known else (0.0, 0.0)

    def ending(self) -> Ending | None:
        """How it ended, if it did."""
        notebook = self.began.notebook if self.began else ""
        return Ending(self.ended, self.ended_at, notebook, self.tries) if self.ended else None

    def end(self, fact: RunEnded, t: float) -> None:
        if is_end(fact, self.ended):
            self.ended, self.ended_at = fact, t

    def told(self, fact: Told, t: float) -> None:
        before = self.tries.get(fact.target, Tries())
        attempts = max(before.attempts, fact.attempt) if fact.failed else before.attempts
        self.tries[fact.target] = Tries(attempts, max(before.at, t), before.done or not fact.failed)


@dataclass(slots=True)
class _Account:
    """A ledger in the making."""

    runs: dict[str, _Run] = field(default_factory=dict)
    skipped: list[float] = field(default_factory=list)
    settled: list[Dated] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def tell(self, each: Dated) -> None:
        self.times.append(each.t)
        match each.fact:
            case RunWanted(_, run, by):
                known = self._run(run)
                known.wanted = known.wanted or Wanted(run, float(int(each.t)), by)
            case RunBegan(_, run):
                known = self._run(run)
                if known.began is None:
                    known.began, known.began_at = each.fact, each.t
            case RunEnded(_, run):
                self._run(run).end(each.fact, each.t)
            case Skipped(_, due):
                self.skipped.extend(due)
            case Told(_, run):
                self._run(run).told(each.fact, each.t)
            case Settled():
                self.settled.append(each)

    def _run(self, run: str) -> _Run:
        return self.runs.setdefault(run, _Run())

    def ledger(self, stops: Mapping[str, str], plans: tuple[Plan, ...]) -> Ledger:
        base = max(self.settled, key=_reach, default=None)
        known = _known(base)
        runs = [run for run in self.runs.values() if _counts(run, base, known.through)]
        begun = [run.began.due for run in runs if run.began and not run.began.asked]
        open_ = next((run for run in runs if run.began and not run.ended), _Run())
        ended = sorted((run for run in runs if run.ended), key=_end)
        last = max((run for run in self.runs.values() if run.ended), key=_end, default=None)
        done = max(begun, default=known.through)
        return Ledger(
            through=max(known.through, done, *self.skipped, 0.0),
            runs=known.runs + len(begun),
            missed=len({due for due in self.skipped if due > done}),
            open=open_.began,
            opened=open_.began_at,
            wanted=tuple(run.wanted for run in runs if run.wanted and not run.began and not run.ended),
            stops=stops,
            endings=tuple(ending for run in ended if (ending := run.ending())),
            last=last.ended if last else _last(known),
            at=last.ended_at if last else known.at,
            busy=last.busy if last else (0.0, 0.0),
            settled=base,
            facts=sum(t > base.t for t in self.times) if base else len(self.times),
            plans=plans,
        )


def _reach(each: Dated) -> tuple[float, float]:
    return _known(each).through, each.t


def _known(base: Dated | None) -> Settled:
    return base.fact if base and isinstance(base.fact, Settled) else Settled("", 0.0)


def _counts(run: _Run, base: Dated | None, through: float) -> bool:
    """What is told of it is no part of what was settled: for runs of the schedule the instant says so. Of one that was
    asked for, the wish is read if it was not long settled; its end may be read without it."""
    if base is None or run.wanted:
        return True
    return bool(run.began and not run.began.asked and run.began.due > through)


def _end(run: _Run) -> float:
    return run.ended_at


def _last(known: Settled) -> RunEnded | None:
    return RunEnded(known.job, known.run, known.through, known.outcome) if known.run else None
