"""What the tests of ticking share: a clock that jumps from one wait to the next, processes that die between two of their
deeds, a runner and a deliverer that remember what they did, and the laws that hold of the record afterwards."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_kernel.core.learnt import Dated
from hermes_kernel.core.planned import PLANNED, RunBegan, RunEnded, RunWanted, Skipped, Told
from hermes_kernel.core.schedule.coming import grace
from hermes_kernel.core.schedule.grammar import stored
from hermes_kernel.core.schedule.instants import instants
from hermes_kernel.core.schedule.job import NONE, NOTEBOOK, Job
from hermes_kernel.core.schedule.ledger import Ledger, ledgers
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.means import Means
from hermes_kernel.scheduling.ports import Ran, Report, Work
from hermes_kernel.scheduling.ticking import Ticker
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.stop import Stop, Stopped

HERE = "this-home"


class Jumping:
    """`ports.Clock` that moves when everybody waits, to the moment at which the first of them wants to be woken."""

    def __init__(self, start: float) -> None:
        self.t = start
        self._passed = 0.0
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        return self.t

    def elapsed(self) -> float:
        return self._passed

    def chance(self) -> float:
        return 0.5

    def jump(self, seconds: float) -> None:
        """Let time pass: the machine sleeps, or somebody sets its clock (also back, which no timer notices)."""
        self.t += seconds
        self._passed += max(seconds, 0.0)

    async def sleep(self, seconds: float) -> None:
        until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self._passed + seconds, next(self._numbers), until))
        await until

    async def through(self, *work: Awaitable[Any]) -> list[Any]:
        """What comes of all this work, exceptions among it."""
        tasks = [asyncio.ensure_future(each) for each in work]
        while not all(task.done() for task in tasks):
            for _ in range(12):
                await asyncio.sleep(0)
            if self._waiting and not all(task.done() for task in tasks):
                at, _, until = heapq.heappop(self._waiting)
                if not until.done():
                    self.jump(max(at - self._passed, 0.0))
                    until.set_result(None)
        return await asyncio.gather(*tasks, return_exceptions=True)


class Death(BaseException):
    """The process is no more. No code catches it."""


@dataclass
class Fate:
    """A process's: it dies before its deed number ``at``, counted from 1; never, where that is 0."""

    at: int = 0
    deeds: list[str] = field(default_factory=list)
    dead: bool = False

    def deed(self, what: str) -> None:
        if self.dead or (self.at and len(self.deeds) + 1 >= self.at):
            self.dead = True
            raise Death(what)
        self.deeds.append(what)


class Mortal:
    """An `Archive` as it is known to one process: every append, claim and reading is a deed, and so is having done it."""

    def __init__(self, store: Archive, fate: Fate) -> None:
        self._store, self._fate = store, fate

    @property
    def waiting(self) -> str:
        return self._store.waiting

    def append(self, session: str, *facts: Any) -> None:
        self._fate.deed("append")
        self._store.append(session, *facts)
        self._fate.deed("appended")

    def learnt(self, kinds: Any, since: float = 0) -> tuple[Dated, ...]:
        if self._fate.dead:
            raise Death
        return self._store.learnt(kinds, since)

    def claim(self, session: str) -> Any:
        self._fate.deed("claim")
        return self._store.claim(session)

    def check(self, session: str) -> None:
        self._store.check(session)


@dataclass
class Worked:
    """What was really done, by whomever: each run and each report, in order."""

    runs: list[str] = field(default_factory=list)
    sent: dict[tuple[str, str], list[Fate]] = field(default_factory=lambda: defaultdict(list))
    """By run and target, who sent the report."""
    bells: set[str] = field(default_factory=set)


class Runner:
    """Takes ``seconds()`` of the clock and ends as ``outcome()`` says."""

    def __init__(self, clock: Jumping, worked: Worked, fate: Fate, chance: random.Random) -> None:
        self._clock, self._worked, self._fate, self._chance = clock, worked, fate, chance

    async def run(self, work: Work, stop: Stop) -> Ran:
        self._fate.deed("run")
        self._worked.runs.append(work.run)
        try:
            await stop.race(self._clock.sleep(self._chance.choice((1, 20, 300, 300, 1_500, 9_000))))
        except Stopped as stopped:
            self._fate.deed("stopped")
            return Ran("stopped", f"stopped by {stopped}")
        self._fate.deed("ran")
        outcome, text = self._chance.choice((("ran", "news"), ("ran", "[SILENT]"), ("failed", "")))
        return Ran(outcome, "it broke" if outcome == "failed" else "", text)


class Deliverer:
    def __init__(self, worked: Worked, fate: Fate, chance: random.Random) -> None:
        self._worked, self._fate, self._chance = worked, fate, chance

    async def deliver(self, report: Report, target: str) -> str:
        self._fate.deed("tell")
        if target == "shaky" and self._chance.random() < 0.4:
            return "no route"
        self._worked.sent[report.run, target].append(self._fate)
        self._fate.deed("told")
        return ""


class Bells:
    def __init__(self, worked: Worked) -> None:
        self._rung = worked.bells

    def ring(self, name: str) -> None:
        self._rung.add(name)

    def rung(self, name: str) -> bool:
        return name in self._rung

    def quiet(self, name: str) -> None:
        self._rung.discard(name)


class Agenda:
    def __init__(self) -> None:
        self.next: float | None = None

    def write(self, next: float | None) -> None:  # noqa: A002 - the seam's word
        self.next = next

    def read(self) -> float | None:
        return self.next


class Home:
    """One store, in which any number of processes live and die."""

    def __init__(self, store: Archive, clock: Jumping, folder: Path, chance: random.Random) -> None:
        self.store, self.clock, self.folder, self.chance = store, clock, folder, chance
        self.worked, self.agenda = Worked(), Agenda()
        self._ids = (f"session{n:08d}" for n in itertools.count())
        self.book = Book(store, self.id, clock)

    def id(self) -> str:
        return next(self._ids)

    def ticker(
        self, fate: Fate | None = None, *, workers: int = 3, shared: bool = False, listens: float = 60.0
    ) -> Ticker:
        """That of a new process."""
        fate = fate or Fate()
        book = Book(Mortal(self.store, fate), self.id, self.clock)  # type: ignore[arg-type]
        runner = Runner(self.clock, self.worked, fate, self.chance)
        return Ticker(
            Means(
                book, runner, Deliverer(self.worked, fate, self.chance), Bells(self.worked), self.agenda, self.clock,
                HERE, self.folder, workers, shared, listens=listens, looks=4 * listens,
            )
        )  # fmt: skip

    async def tick(self, *fates: Fate, stop: Stop | None = None) -> list[Any]:
        """As many processes tick at once."""
        stop, fates = stop or Stop(), fates or (Fate(),)
        told: list[list[Any]] = [[] for _ in fates]
        ends = await self.clock.through(
            *(self.ticker(fate).tick(stop, heard.append) for fate, heard in zip(fates, told, strict=True))
        )
        for end, fate in zip(ends, fates, strict=True):
            assert end is None or (isinstance(end, Death) and fate.dead), end
        return [tuple(heard) if end is None else end for heard, end in zip(told, ends, strict=True)]

    def facts(self) -> tuple[Dated, ...]:
        return self.store.learnt(PLANNED, 0)

    def of(self, *kinds: type) -> list[Any]:
        return [each.fact for each in self.facts() if isinstance(each.fact, kinds)]


def spells(ledger: Ledger, end: float) -> Iterator[tuple[Job, float]]:
    """What the job was while it was enabled, each until when."""
    plans = [*ledger.plans]
    for n, plan in enumerate(plans):
        job = plan.job
        if job is None or not job.enabled:
            continue
        after = plans[n + 1] if n + 1 < len(plans) else None
        yield job, min(after.t, end) if after else end


def expected(ledger: Ledger, end: float) -> set[float]:
    """Every instant that was due while the job was what it was."""
    found: set[float] = set()
    for job, until in spells(ledger, end):
        coming = instants(stored(job.schedule, job.zone), since=job.since, after=0)
        found |= set(itertools.takewhile(lambda due, until=until: due <= until, coming))
    return found


def check(home: Home, end: float, slack: float = 0.0) -> Counter[str]:
    """The laws, of every job, from the record alone; how many rows of which kind there are. ``slack`` are the seconds of
    the clock that may pass between a decision and its being written."""
    facts = home.facts()
    counts: Counter[str] = Counter()
    for job, ledger in ledgers(facts).items():
        counts += _checked(home, job, ledger, facts, end, slack)
    runs = [each.run for each in home.of(RunBegan)]
    assert len(set(runs)) == len(runs), "no run begins twice"
    assert len(set(home.worked.runs)) == len(home.worked.runs), "nothing is run twice"
    assert set(home.worked.runs) <= set(runs), "nothing is run that is not in the record"
    for senders in home.worked.sent.values():
        assert all(fate.dead for fate in senders[:-1]), "told twice only by who died before he could write it down"
    return counts


def _checked(home: Home, job: str, ledger: Ledger, facts: tuple[Dated, ...], end: float, slack: float) -> Counter[str]:
    its = [each for each in facts if getattr(each.fact, "job", "") == job]
    begun = {each.fact.due: each.t for each in its if isinstance(each.fact, RunBegan) and not each.fact.asked}
    skipped = {due: each for each in its if isinstance(each.fact, Skipped) for due in each.fact.due}
    _one_row_each(ledger, its, begun, skipped, end)
    _policies(ledger, begun, skipped, slack)
    _one_at_a_time(its)
    _told(home, ledger, its)
    assert ledger.open is None
    assert not ledger.wanted
    return Counter(
        {"ran": len(begun), "skipped": len(skipped), "asked": sum(isinstance(each.fact, RunWanted) for each in its)}
    )


def _one_row_each(ledger: Ledger, its: list[Dated], begun: dict, skipped: dict, end: float) -> None:
    rows = [each.fact.due for each in its if isinstance(each.fact, RunBegan) and not each.fact.asked]
    rows += [due for each in its if isinstance(each.fact, Skipped) for due in each.fact.due]
    assert len(set(rows)) == len(rows), "no instant has two rows"
    job = ledger.job
    assert job is not None
    if job.repeat:
        assert len(begun) <= job.repeat
        end = max(rows, default=0.0) if len(begun) == job.repeat else end
    assert set(rows) <= expected(ledger, end), "no row is of no instant"
    assert not expected(ledger, end - job.jitter) - set(rows), "no instant is without a row"
    wanted = {each.fact.run for each in its if isinstance(each.fact, RunWanted)}
    ended = Counter(each.fact.run for each in its if isinstance(each.fact, RunEnded))
    ran = {each.fact.run for each in its if isinstance(each.fact, RunBegan)}
    assert set(ended) == wanted | ran, "whatever began or was asked for has ended, and nothing else"
    assert set(ended.values()) <= {1}, "once"


def _policies(ledger: Ledger, begun: dict[float, float], skipped: dict[float, Dated], slack: float) -> None:
    for due, t in begun.items():
        job = ledger.job_at(t)
        assert job is not None
        assert t >= due, "nothing runs before its time"
        if job.misfire == "skip":
            assert t <= due + job.jitter + grace(job, due) + slack, "nothing runs later than it may"
    latest = max((*begun, *skipped), default=0.0)
    for due, each in skipped.items():
        assert isinstance(each.fact, Skipped)
        its = ledger.job_at(each.t)
        assert its is not None
        if each.fact.why.startswith(("the job was", "stopped by")):
            continue
        assert its.misfire != "all", "of these each runs"
        if its.misfire == "once":
            assert due < latest, "a later one makes up for it"


def _one_at_a_time(its: list[Dated]) -> None:
    going = ""
    for each in its:
        match each.fact:
            case RunBegan(_, run):
                assert not going, "one run of a job at a time"
                going = run
            case RunEnded(_, run):
                going = "" if run == going else going


def _told(home: Home, ledger: Ledger, its: list[Dated]) -> None:
    told: defaultdict[tuple[str, str], list[Told]] = defaultdict(list)
    for each in its:
        if isinstance(each.fact, Told):
            told[each.fact.run, each.fact.target].append(each.fact)
    for each in its:
        if not isinstance(each.fact, RunEnded):
            continue
        job = ledger.job_at(each.t)
        assert job is not None
        quiet = each.fact.outcome == "stopped" or (each.fact.silent and each.fact.outcome == "ran")
        for target in set(job.deliver) - {NONE, NOTEBOOK}:
            tries = told.pop((each.fact.run, target), [])
            done = [one for one in tries if not one.failed]
            assert len(done) <= 1
            assert len(tries) <= 3
            assert bool(tries) != quiet
            assert quiet or done or len(tries) == 3, "told, or tried three times"
    assert not told, "nobody else is told"
