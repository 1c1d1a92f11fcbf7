"""What is to be done about a job now: the whole policy, as rules of which the first that applies says the next step.

Total, and the same for every process that knows the same facts. An instant is compared with the ledger, never with the
clock alone: a clock that is set back does nothing again. Of many missed instants a step handles at most `MOST`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice, pairwise

from hermes_kernel.core.planned import RunEnded, Settled
from hermes_kernel.core.schedule.grammar import stored
from hermes_kernel.core.schedule.instants import instants
from hermes_kernel.core.schedule.job import NONE, NOTEBOOK, Job
from hermes_kernel.core.schedule.ledger import ORPHANED, SHORT, Ending, Ledger, Tries

MOST = 1_000
"""Instants that one fact lets go of, and that one decision looks at."""
MANY = 200
"""Facts of a job after which what is settled is said, so that they need not be read again."""
LEAST_GRACE, MOST_GRACE = 120.0, 7_200.0  # seconds; as the program we succeed
ATTEMPTS = 3
PAUSES = (60.0, 600.0)
"""Times that one target is tried, and seconds from one failure to the next try."""


@dataclass(frozen=True, slots=True)
class Close:
    """The run is over without being run, or was begun by a process that is no more: keep ``fact``."""

    fact: RunEnded


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell ``target`` how the run ended, for the ``attempt``-th time."""

    run: RunEnded
    target: str
    attempt: int = 1


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
    """The next step for who alone acts on `job`; None: there is nothing to do now."""
    return next((step for rule in RULES if (step := rule(job, ledger, now))), None)


def next_start(job: Job, ledger: Ledger) -> float | None:
    """When there is next something to do about the job, in seconds since 1970; None: never, as it stands. A run that
    goes on is not counted."""
    times = [_retry(tries) for _, _, tries in _owed(ledger)]
    times += [wanted.due for wanted in ledger.wanted]
    times += [due for due, _ in islice(_lapsed(ledger), 1)]
    times += [start for _, start in islice(_coming(job, ledger), 1)]
    return min(times, default=None)


# --- ids and chance


def run_id(job: str, due: float) -> str:
    """What the run of the instant `due` is called, whoever begins it."""
    return f"{job[:SHORT]}-{datetime.fromtimestamp(due, UTC):%Y%m%dT%H%M%SZ}"


def asked_id(job: str, due: float, chance: str) -> str:
    """What a run is called that somebody asks for at `due`; ``chance`` tells it from others of that second."""
    return f"{run_id(job, due)}-asked-{chance}"


def share(job: str, due: float) -> float:
    """Which part of its jitter the start of an instant is put off by, from 0 up to 1: the same for all who ask."""
    return int.from_bytes(sha256(f"{job} {due:.0f}".encode()).digest()[:4]) / 2**32


# --- the rules, in their order


def _orphan(_job: Job, ledger: Ledger, _now: float) -> Step | None:
    """Whoever began a run held the claim that we hold now, so he is no more. It is not run again."""
    began = ledger.open
    return Close(RunEnded(began.job, began.run, began.due, "failed", ORPHANED)) if began else None


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
            return Tell(ending.fact, target, tries.attempts + 1)
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
    lapsed = list(islice(_lapsed(ledger), MOST))
    why = lapsed[0][1] if lapsed else ""
    return Skip(tuple(due for due, its in lapsed if its == why), why) if lapsed else None


def _asked(_job: Job, ledger: Ledger, _now: float) -> Step | None:
    """A person waits for it, so it goes before what the schedule wants; also of a job that is paused or over."""
    return next((Begin(wanted.run, wanted.due, asked=True) for wanted in ledger.wanted), None)


def _scheduled(job: Job, ledger: Ledger, now: float) -> Step | None:
    """Of the instants whose start has come, `MISFIRES` says which run."""
    ready = _ready(job, ledger, now)
    if not ready:
        return None
    if job.misfire == "all":
        return _begun(job, ledger, ready[0][0])
    if len(ready) > 1:
        return _passed_over(job, ledger, [due for due, _ in ready], now)
    due, start = ready[0]
    if job.misfire == "skip" and now > start + grace(job, due):
        return Skip((due,), f"missed by {span(now - start)}")
    return _begun(job, ledger, due)


RULES: tuple[Callable[[Job, Ledger, float], Step | None], ...] = (
    _orphan, _unbegun, _report, _enough, _let_go, _asked, _scheduled, _buried,
)  # fmt: skip


# --- instants


def _coming(job: Job, ledger: Ledger) -> Iterator[tuple[float, float]]:
    """The instants that are not in the record, and when each starts: never before an earlier one."""
    start = 0.0
    if not job.enabled or ledger.removed or over(job, ledger):
        return
    for due in instants(stored(job.schedule, job.zone), since=job.since, after=ledger.through):
        start = max(start, due + share(job.id, due) * job.jitter)
        yield due, start


def over(job: Job, ledger: Ledger) -> bool:
    """It has had all the runs that it was to have."""
    return 0 < job.repeat <= ledger.runs


def _ready(job: Job, ledger: Ledger, now: float) -> list[tuple[float, float]]:
    """The oldest whose start has come; one more than may be let go of at once."""
    found: list[tuple[float, float]] = []
    for due, start in islice(_coming(job, ledger), MOST + 1):
        if start > now:
            break
        found.append((due, start))
    return found


def _lapsed(ledger: Ledger) -> Iterator[tuple[float, str]]:
    """The instants of what the job was before that are not in the record, and why they will not run."""
    for before, after in pairwise(ledger.plans):
        job, then = before.job, after.job
        if job is None or not job.enabled or over(job, ledger) or (then and then.enabled and _same(job, then)):
            continue
        why = "removed" if then is None else "changed" if then.enabled else "paused"
        for due in instants(stored(job.schedule, job.zone), since=job.since, after=ledger.through):
            if due > after.t:
                break
            yield due, f"the job was {why} before it began"


def _same(job: Job, then: Job) -> bool:
    return (job.schedule, job.zone, job.since) == (then.schedule, then.zone, then.since)


def grace(job: Job, due: float) -> float:
    """Seconds after its start in which the instant is on time."""
    if job.grace is not None:
        return job.grace
    after = next(instants(stored(job.schedule, job.zone), since=job.since, after=due), None)
    return MOST_GRACE if after is None else min(max((after - due) / 2, LEAST_GRACE), MOST_GRACE)


# --- what becomes of them


def _begun(job: Job, ledger: Ledger, due: float) -> Step:
    run = run_id(job.id, due)
    why = _stopped(run, ledger)
    return Skip((due,), why) if why else Begin(run, due, missed=ledger.missed)


def _stopped(run: str, ledger: Ledger) -> str:
    return f"stopped by {ledger.stops[run]} before it began" if run in ledger.stops else ""


def _passed_over(job: Job, ledger: Ledger, ready: list[float], now: float) -> Step:
    """All but the latest. What came due while a run went on is told apart from what nobody was there for."""
    *due, latest = ready
    began, ended = ledger.busy
    during = tuple(each for each in due if began <= each <= ended)
    if during and during[0] == due[0]:
        return Skip(during, "an earlier run was still going")
    if job.misfire == "once":
        return Skip(
            tuple(due), f"made up for by the run of {_utc(latest)}" if len(due) < MOST else "made up for by a later run"
        )
    return Skip(tuple(due), f"missed by {span(now - due[-1])}" + (" or more" if len(due) > 1 else ""))


def _utc(due: float) -> str:
    return f"{datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC"


def span(seconds: float) -> str:
    """A length of time in its two largest units: ``3 h 10 min``."""
    left = max(int(seconds), 0)
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


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
    before = ledger.settled.fact if ledger.settled else None
    last, at = ledger.last, ledger.busy[1]
    if isinstance(before, Settled) and not at:
        at = before.at
    return Settle(
        Settled(job.id, ledger.through, ledger.runs, last.run if last else "", last.outcome if last else "", at)
    )
