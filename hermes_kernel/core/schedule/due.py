"""What is to be done about a job now: the whole policy, as rules of which the first that applies says the next step.

Total, and the same for every process that knows the same facts. An instant is compared with the ledger, never with the
clock alone: a clock that is set back does nothing again. Of many missed instants a step handles at most `MOST`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, takewhile

from hermes_kernel.core.figures import span
from hermes_kernel.core.learnt import LOOPS
from hermes_kernel.core.planned import ORPHANED, SHORT, RunEnded, Settled
from hermes_kernel.core.schedule.coming import MOST, coming, grace, lapsed, ready
from hermes_kernel.core.schedule.job import NONE, NOTEBOOK, Job
from hermes_kernel.core.schedule.ledger import Ending, Ledger, Tries
from hermes_kernel.core.schedule.when import ScheduleError

MANY = 200
"""Facts of a job after which what is settled is said, so that they need not be read again."""
ATTEMPTS = 3
PAUSES = (60.0, 600.0)
"""Times that one target is tried, and seconds from one failure to the next try."""


@dataclass(frozen=True, slots=True)
class Close:
    """The run is over without being run, or was begun by a process that is no more: keep ``fact``."""

    fact: RunEnded


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell ``target`` how the run ended that wrote ``notebook``, for the ``attempt``-th time."""

    run: RunEnded
    target: str
    attempt: int = 1
    notebook: str = ""


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin the run for the instant ``due``; ``asked``: by somebody. ``missed`` instants were let go of for it."""

    run: str
    due: float
    asked: bool = False
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Skip:
    """These instants will not run, for ``why``."""

    due: tuple[float, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Keep ``fact``: nothing is open, and much was told."""

    fact: Settled


Step = Close | Tell | Begin | Skip | Settle


def decide(job: Job, ledger: Ledger, now: float) -> Step | None:
    """The next step for who alone acts on `job`; None: there is nothing to do now. Raises as `next_start`."""
    return next((step for rule in RULES if (step := rule(job, ledger, now))), None)


def next_start(job: Job, ledger: Ledger) -> float | None:
    """When there is next something to do about the job, in seconds since 1970; None: never, as it stands. A run that
    goes on is not counted.

    Raises:
        ScheduleError: its schedule cannot be read here: another version of this program wrote it, or this machine does
            not know the zone.
    """
    times = [_retry(tries) for _, _, tries in _owed(ledger)]
    times += [wanted.due for wanted in ledger.wanted]
    times += [due for due, _ in islice(lapsed(ledger), 1)]
    times += [start for _, start in islice(coming(job, ledger), 1)]
    return min(times, default=None)


def next_known(job: Job, ledger: Ledger) -> float | None:
    """`next_start`; None, too, where the schedule cannot be read here, which whoever ticks says."""
    try:
        return next_start(job, ledger)
    except ScheduleError:
        return None


def next_due(job: Job, ledger: Ledger) -> float | None:
    """When its next run by the schedule starts; None where there is none, or the schedule cannot be read here."""
    try:
        return next((start for _, start in coming(job, ledger)), None)
    except ScheduleError:
        return None


# --- ids


def run_id(job: str, due: float) -> str:
    """What the run of the instant `due` is called, whoever begins it."""
    return f"{job[:SHORT]}-{datetime.fromtimestamp(due, UTC):%Y%m%dT%H%M%SZ}"


def asked_id(job: str, due: float, chance: str) -> str:
    """What a run is called that somebody asks for at `due`; ``chance`` tells it from others of that second."""
    return f"{run_id(job, due)}-asked-{chance}"


# --- the rules, in their order


def _orphan(_job: Job, ledger: Ledger, _now: float) -> Step | None:
    """Whoever began a run held the claim that we hold now, so he is no more. It is not run again."""
    began = ledger.open
    return Close(RunEnded(began.job, began.run, began.due, "failed", ORPHANED, guessed=True)) if began else None


def _unbegun(job: Job, ledger: Ledger, _now: float) -> Step | None:
    """A wish ends with its job, and with a stop that comes before it was granted."""
    for wanted in ledger.wanted:
        why = "the job was removed before it began" if ledger.removed else _stopped(wanted.run, ledger)
        if why:
            return Close(RunEnded(job.id, wanted.run, wanted.due, "stopped", why))
    return None


def _report(_job: Job, ledger: Ledger, now: float) -> Step | None:
    """Failures are told, and what ran unless it asks for silence; each target is told once, or tried three times."""
    for ending, target, tries in _owed(ledger):
        if not tries.at <= now < _retry(tries):
            return Tell(ending.fact, target, tries.attempts + 1, ending.notebook)
    return None


def _enough(job: Job, ledger: Ledger, _now: float) -> Step | None:
    return settled(job, ledger) if ledger.facts > MANY else None


def _buried(job: Job, ledger: Ledger, _now: float) -> Step | None:
    """Of a job that is no more nothing is left to do, and nobody need look at it again."""
    if not ledger.removed or (ledger.settled and ledger.settled.t >= ledger.plans[-1].t):
        return None
    return settled(job, ledger)


def _let_go(_job: Job, ledger: Ledger, _now: float) -> Step | None:
    """Instants that were due and not begun when the job was changed, paused or removed."""
    found = list(islice(lapsed(ledger), MOST))
    if not found:
        return None
    why = found[0][1]
    return Skip(tuple(due for due, _ in takewhile(lambda each: each[1] == why, found)), why)


def _asked(_job: Job, ledger: Ledger, _now: float) -> Step | None:
    """A person waits for it, so it goes before what the schedule wants; also of a job that is paused or over."""
    return next((Begin(wanted.run, wanted.due, asked=True) for wanted in ledger.wanted), None)


def _scheduled(job: Job, ledger: Ledger, now: float) -> Step | None:
    """Of the instants whose start has come, `MISFIRES` says which run."""
    found = ready(job, ledger, now)
    if not found:
        return None
    if job.misfire == "all":
        return _begun(job, ledger, found[0][0])
    if len(found) > 1:
        return _passed_over(job, ledger, [due for due, _ in found], now)
    due, start = found[0]
    if job.misfire == "skip" and now > start + grace(job, due):
        return _passed_over(job, ledger, [due], now)
    return _begun(job, ledger, due)


RULES: tuple[Callable[[Job, Ledger, float], Step | None], ...] = (
    _orphan, _unbegun, _report, _enough, _let_go, _asked, _scheduled, _buried,
)  # fmt: skip


# --- what becomes of them


def _begun(job: Job, ledger: Ledger, due: float) -> Step:
    run = run_id(job.id, due)
    why = _stopped(run, ledger)
    return Skip((due,), why) if why else Begin(run, due, missed=ledger.missed)


def _stopped(run: str, ledger: Ledger) -> str:
    return f"stopped by {who(ledger.stops[run])} before it began" if run in ledger.stops else ""


def who(by: str) -> str:
    """One of `learnt.WHO` in a sentence."""
    return f"{'the' if by in LOOPS else 'a'} {by}"


def _passed_over(job: Job, ledger: Ledger, found: list[float], now: float) -> Step:
    """All but the latest, or that one where it is alone. What came due while a run went on is told apart from what
    nobody was there for."""
    due = tuple(found[:-1] or found)
    began, ended = ledger.busy
    during = tuple(takewhile(lambda each: began <= each <= ended, due))
    if during:
        return Skip(during, "an earlier run was still going")
    if job.misfire == "skip":
        return Skip(due, f"missed by {span(now - due[-1])}{' or more' if len(due) > 1 else ''}")
    return Skip(due, f"made up for by {f'the run of {_utc(found[-1])}' if len(due) < MOST else 'a later run'}")


def _utc(due: float) -> str:
    return f"{datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC"


# --- reports


def _owed(ledger: Ledger) -> Iterator[tuple[Ending, str, Tries]]:
    """Who has not been told of what yet. Told are those whom the job named when the run ended."""
    for ending in ledger.endings:
        job = ledger.job_at(ending.at)
        if job is None or ending.fact.outcome == "stopped" or (ending.fact.silent and ending.fact.outcome == "ran"):
            continue
        for target in dict.fromkeys(job.deliver):
            tries = ending.tries.get(target, Tries())
            if target not in {NONE, NOTEBOOK} and not tries.done and tries.attempts < ATTEMPTS:
                yield ending, target, tries


def _retry(tries: Tries) -> float:
    return tries.at + PAUSES[tries.attempts - 1] if tries.attempts else 0.0


# --- what need not be read again


def settled(job: Job, ledger: Ledger) -> Settle | None:
    """What to keep, if nothing of the job is open."""
    if ledger.open or ledger.wanted or next(_owed(ledger), None):
        return None
    last = ledger.last or RunEnded(job.id, "", 0.0, "")
    return Settle(Settled(job.id, ledger.through, ledger.runs, last.run, last.outcome, ledger.at))
