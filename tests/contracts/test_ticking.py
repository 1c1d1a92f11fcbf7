"""What a tick does, and what is left where a process dies between any two of its deeds: in memory and on disk alike."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from hermes_kernel.core.planned import (
    ORPHANED,
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
from hermes_kernel.core.schedule.coming import MOST
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import MISFIRES, Job
from hermes_kernel.scheduling.acting import ENDED
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.ticking import OFTEN, Handled
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import InUse, Store, StoreError
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.ticked import HERE, Agenda, Death, Fate, Home, Jumping, check
from tests.soon import SOON

T = 1_796_000_400.0
HOUR, DAY = 3_600.0, 86_400.0
JOB = Job("0123456789abcdef", "hourly", "0 * * * *", "UTC", since=T, prompt="Look.", deliver=("a", "b"), place=HERE)


class Set(random.Random):
    """Chance that always takes the same: runs of ``seconds`` that end as ``outcome``."""

    outcome = ("ran", "news")
    seconds = 300

    def choice(self, seq: Any) -> Any:
        return self.outcome if isinstance(seq[0], tuple) else self.seconds


@pytest.fixture(params=["memory", "store"])
def home(request, tmp_path):
    clock = Jumping(T)
    store = MemoryLog(clock=clock) if request.param == "memory" else Store(tmp_path / "home", clock=clock)
    yield Home(store, clock, tmp_path / "home", Set())
    store.close()


def born(home: Home, *jobs: Job) -> None:
    for job in jobs:
        home.book.record(JobSet(job))


def another(n: int, **changes: Any) -> Job:
    return replace(JOB, id=f"{n:08x}{n:08x}", name=f"job-{n}", **changes)


async def test_what_is_due_runs_and_is_told_and_the_next_time_is_put_where_everybody_reads_it(home):
    born(home, JOB)
    assert await home.tick() == [()]
    assert home.agenda.next == T + HOUR
    home.clock.jump(HOUR)
    ((handled,),) = await home.tick()
    run = run_id(JOB.id, T + HOUR)
    assert str(handled) == f"hourly: ran in 5 min ({run})"
    assert isinstance(handled, Handled)
    assert home.worked.runs == [run]
    assert set(home.worked.sent) == {(run, "a"), (run, "b")}
    (begun,), (ended,) = home.of(RunBegan), home.of(RunEnded)
    assert begun.notebook.startswith(str(home.folder / "runs" / "hourly"))
    assert (begun.place, ended.outcome, ended.text) == (HERE, "ran", "news")
    assert home.agenda.next == T + 2 * HOUR
    check(home, home.clock.now())


async def test_what_becomes_due_while_something_runs_runs_too(home):
    born(home, JOB, another(2, schedule="2026-11-30T02:03:00Z"))
    home.clock.jump(HOUR)
    ((first, second),) = await home.tick()
    assert {first.name, second.name} == {"hourly", "job-2"}


async def test_what_was_done_is_told_when_it_was_though_others_still_run(home):
    born(home, JOB, another(2, schedule="5 * * * *", since=T + HOUR))
    home.clock.jump(HOUR + 200)
    open_then: list[tuple[str, int]] = []

    def tell(each: Handled) -> None:
        open_then.append((each.name, len(home.of(RunBegan)) - len(home.of(RunEnded))))

    await home.clock.through(home.ticker().tick(Stop(), tell))
    assert open_then == [("hourly", 1), ("job-2", 0)]


async def test_a_command_that_outlived_the_process_of_its_run_ends_when_the_run_is_closed(home):
    born(home, JOB)
    home.clock.jump(HOUR)
    run = run_id(JOB.id, T + HOUR)
    home.book.record(RunBegan(JOB.id, run, T + HOUR, place=HERE))
    left = subprocess.Popen(["sleep", "300"], env={"HERMES_RUN": run, "PATH": os.environ["PATH"]})
    another_run = subprocess.Popen(["sleep", "300"], env={"HERMES_RUN": "other", "PATH": os.environ["PATH"]})
    try:
        await home.tick()
        assert left.wait(timeout=20) == -signal.SIGKILL
        assert another_run.poll() is None
    finally:
        for each in (left, another_run):
            each.kill()
            each.wait()


async def test_no_more_run_at_once_than_there_are_workers_and_none_of_another_home(home):
    born(home, *(another(n) for n in range(1, 6)), another(9, place="elsewhere"))
    home.clock.jump(HOUR)
    handled: list[Handled] = []
    await home.clock.through(home.ticker(workers=2).tick(Stop(), handled.append))
    assert sorted(each.name for each in handled) == [f"job-{n}" for n in range(1, 6)]
    assert most_at_once(home) == 2


def most_at_once(home: Home) -> int:
    going = most = 0
    for fact in home.of(RunBegan, RunEnded):
        going += 1 if isinstance(fact, RunBegan) else -1
        most = max(most, going)
    return most


async def test_nor_do_more_run_at_once_where_many_tick_and_those_that_need_not_wait_end(home):
    born(home, *(another(n) for n in range(1, 7)))
    home.clock.jump(HOUR)
    ends: list[float] = []

    async def minutely(n: int) -> None:
        await home.clock.sleep(60 * n)
        await home.ticker(workers=2).tick(Stop())
        ends.append(home.clock.now() - T - HOUR - 60 * n)

    await home.clock.through(*map(minutely, range(3)))
    assert check(home, home.clock.now())["ran"] == 6
    assert most_at_once(home) == 2
    assert ends[:2] == [0, 0]
    assert home.agenda.next == T + 2 * HOUR


async def test_a_job_that_waits_is_begun_though_the_tick_ends_that_had_the_slot(home):
    born(home, JOB)
    home.clock.jump(HOUR)
    first, second = Stop(), Stop()

    async def meanwhile() -> None:
        await home.clock.sleep(1)
        born(home, another(2))
        await home.ticker(workers=1, listens=0.25).tick(second)

    async def person() -> None:
        await home.clock.sleep(100)
        first.press("signal")

    await home.clock.through(home.ticker(workers=1, listens=0.25).tick(first), meanwhile(), person())
    assert [each.outcome for each in home.of(RunEnded)] == ["stopped", "ran"]
    assert most_at_once(home) == 1


async def test_who_waits_for_a_slot_ends_at_once_when_told_to(home):
    born(home, JOB)
    home.clock.jump(HOUR)
    stop, ends = Stop(), []

    async def meanwhile() -> None:
        await home.clock.sleep(1)
        born(home, another(2))
        await home.ticker(workers=1, listens=0.25).tick(stop)
        ends.append(home.clock.now() - T - HOUR)

    async def person() -> None:
        await home.clock.sleep(6)
        stop.press("signal")

    await home.clock.through(home.ticker(workers=1, listens=0.25).tick(Stop()), meanwhile(), person())
    assert ends[0] <= 6 + 2
    assert [each.outcome for each in home.of(RunEnded)] == ["ran", "ran"]


async def test_a_job_on_which_another_process_acts_is_passed_over_and_looked_at_again_soon(home):
    born(home, JOB, another(2))
    home.clock.jump(HOUR)
    claim = home.book.claim(JOB.id)
    with pytest.raises(InUse):
        home.book.claim(JOB.id)
    ((handled,),) = await home.tick()
    assert handled.name == "job-2"
    assert home.agenda.next == home.clock.now() + 60
    claim.close()
    ((handled,),) = await home.tick()
    assert handled.name == "hourly"


async def test_a_run_that_is_asked_for_runs_at_once_also_of_a_paused_job(home):
    born(home, replace(JOB, enabled=False))
    home.book.record(RunWanted(JOB.id, "01234567-asked-beef"))
    ((handled,),) = await home.tick()
    assert "01234567-asked-beef" in handled.text
    assert home.of(RunBegan)[0].asked
    assert await home.tick() == [()]


async def test_a_run_is_stopped_by_whoever_wants_it_and_no_one_is_told(home):
    born(home, JOB)
    home.clock.jump(HOUR)
    run = run_id(JOB.id, T + HOUR)

    async def person() -> None:
        await home.clock.sleep(100)
        home.book.record(StopWanted(run))
        home.worked.bells.add(run)

    handled: list[Handled] = []
    await home.clock.through(home.ticker().tick(Stop(), handled.append), person())
    assert [each.text for each in handled] == [f"stopped in 2 min, stopped by a person ({run})"]
    assert home.of(RunEnded)[0].outcome == "stopped"
    assert not home.worked.sent
    assert not home.worked.bells


async def test_a_run_is_stopped_from_another_machine_which_has_no_bell_here(home):
    clock = SystemClock()
    home.clock, home.chance.seconds = clock, 60
    home.store = Store(home.folder / "real") if isinstance(home.store, Store) else MemoryLog()
    home.book = Book(home.store, home.id)
    born(home, replace(JOB, enabled=False))
    run = "01234567-asked-beef"
    home.book.record(RunWanted(JOB.id, run))
    ticking = asyncio.ensure_future(home.ticker(shared=True, listens=0.05).tick(Stop()))
    while not home.worked.runs:
        await asyncio.sleep(0.01)
    home.book.record(StopWanted(run, by="model"))
    began = clock.elapsed()
    await ticking
    assert clock.elapsed() - began < SOON
    assert (home.of(RunEnded)[0].outcome, home.of(RunEnded)[0].why) == ("stopped", "stopped by a model")
    home.store.close()


async def test_a_scheduler_that_is_told_to_end_stops_its_runs_and_says_so_and_begins_nothing(home):
    born(home, JOB, another(2, schedule="2026-11-30T02:02:00Z"))
    home.clock.jump(HOUR)
    stop = Stop()

    async def signal() -> None:
        await home.clock.sleep(100)
        stop.press("signal")
        home.clock.jump(HOUR)

    await home.clock.through(home.ticker().tick(stop), signal())
    (ended,) = home.of(RunEnded)
    assert (ended.outcome, ended.why) == ("stopped", ENDED)
    assert await home.tick(stop=stop) == [()]
    assert home.agenda.next is not None
    assert home.agenda.next < home.clock.now(), "there is something to do, for another"


async def test_a_failure_is_told_and_silence_is_kept(home):
    born(home, JOB)
    home.chance.outcome = ("failed", "")
    home.clock.jump(HOUR)
    await home.tick()
    assert len(home.worked.sent) == 2
    home.chance.outcome = ("ran", "Nothing new.\n[SILENT]")
    home.clock.jump(HOUR)
    await home.tick()
    assert len(home.of(RunEnded)) == 2
    assert len(home.worked.sent) == 2


async def test_a_schedule_that_cannot_be_read_costs_no_other_job_its_run(home):
    born(home, another(1, schedule="whenever"), JOB)
    home.clock.jump(HOUR)
    ((trouble, handled),) = await home.tick()
    assert (trouble.name, handled.name) == ("job-1", "hourly")
    assert trouble.text.startswith("its schedule cannot be read: ")


class Full:
    """A store that takes no end of a run of one job until ``times`` have been refused."""

    def __init__(self, store: Any, job: str, times: int) -> None:
        self._store, self._job, self._left = store, job, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, session: str, *facts: Any) -> None:
        if self._left and any(isinstance(fact, RunEnded) and fact.job == self._job for fact in facts):
            self._left -= 1
            raise StoreError("the disk is full")
        self._store.append(session, *facts)


@pytest.mark.parametrize(("times", "outcome"), [(3, "ran"), (4, "failed")])
async def test_a_full_disk_costs_one_job_and_no_other_and_an_end_is_written_once_there_is_room(home, times, outcome):
    born(home, JOB, another(2))
    home.clock.jump(HOUR)
    home.store = Full(home.store, JOB.id, times)
    (handled,) = await home.tick()
    assert sum(each.text.startswith("ran") for each in handled) == (2 if outcome == "ran" else 1)
    assert outcome == "ran" or "the disk is full" in {each.text for each in handled}
    await home.tick()
    assert {fact.job: fact.outcome for fact in home.of(RunEnded)} == {JOB.id: outcome, another(2).id: "ran"}


@pytest.mark.parametrize("misfire", MISFIRES)
def test_a_death_before_or_after_any_deed_of_a_run_loses_no_instant_and_runs_none_twice(misfire, tmp_path):
    """Three instants are due; one process dies at its nth deed, another comes after it."""

    def dies(at: int) -> tuple[Home, Fate]:
        clock = Jumping(T)
        home, fate = Home(MemoryLog(clock=clock), clock, tmp_path / "home", Set()), Fate(at)
        born(home, replace(JOB, misfire=misfire))
        clock.jump(3 * HOUR + 60)
        asyncio.run(home.tick(fate))
        clock.jump(HOUR)
        asyncio.run(home.tick())
        asyncio.run(home.tick())
        return home, fate

    _, whole = dies(0)
    assert len(whole.deeds) >= 11
    for at in range(1, len(whole.deeds) + 1):
        home, fate = dies(at)
        assert fate.dead
        counts = check(home, home.clock.now())
        assert counts["ran"] + counts["skipped"] == 4
        assert len(home.worked.sent) == 2 * len(home.of(RunBegan)), "each is told, the failed ones too"


def test_of_a_store_on_disk_the_same_holds(tmp_path):
    for at in itertools.count(1):
        clock = Jumping(T)
        store = Store(tmp_path / str(at), clock=clock)
        home, fate = Home(store, clock, tmp_path / str(at), Set()), Fate(at)
        born(home, JOB)
        clock.jump(2 * HOUR + 60)
        asyncio.run(home.tick(fate))
        asyncio.run(home.tick())
        counts = check(home, clock.now())
        assert (counts["ran"], counts["skipped"]) == (1, 1)
        store.close()
        if not fate.dead:
            return


async def test_of_many_that_tick_at_once_each_instant_is_done_by_one(home):
    born(home, *(another(n, misfire=MISFIRES[n % 3]) for n in range(1, 7)))
    home.clock.jump(2 * HOUR + 60)
    await home.tick(*(Fate() for _ in range(3)))
    assert check(home, home.clock.now())["ran"] == 2 + 2 + 4
    assert len(home.worked.runs) == len(set(home.worked.runs)) == 8


async def test_two_that_have_each_a_run_to_wait_for_do_not_keep_each_other_looking(home):
    home.clock.jump(HOUR)
    home.agenda = Counting()

    async def later(seconds: float, job: Job) -> None:
        await home.clock.sleep(seconds)
        born(home, job)
        await home.ticker(workers=2, listens=0.25).tick(Stop(), print)

    await home.clock.through(later(0, JOB), later(0.4, another(2)))
    assert check(home, home.clock.now())["ran"] == 2
    assert home.agenda.looks < 2 * (Set.seconds / OFTEN + 10)


class Counting(Agenda):
    """How often somebody has looked at all jobs: whoever has, says what he found."""

    looks = 0

    def write(self, next: float | None) -> None:  # noqa: A002 - the seam's word
        self.looks += 1
        super().write(next)


async def test_a_removed_job_whose_run_was_cut_off_is_closed_and_told_and_then_forgotten(home):
    born(home, JOB)
    home.clock.jump(HOUR)
    (death,) = await home.tick(Fate(5))
    assert isinstance(death, Death)
    home.book.record(JobRemoved(JOB.id))
    assert list(home.book.tended()) == [JOB.id]
    await home.tick()
    assert home.of(RunEnded)[0].why == ORPHANED
    assert {fact.target for fact in home.of(Told)} == {"a", "b"}
    assert not home.book.tended()
    assert home.agenda.next is None


async def test_a_job_that_is_removed_in_mid_run_ends_its_run_and_is_told(home):
    born(home, JOB)
    home.clock.jump(HOUR)

    async def person() -> None:
        await home.clock.sleep(100)
        home.book.record(JobRemoved(JOB.id))

    await home.clock.through(home.ticker().tick(Stop()), person())
    assert home.of(RunEnded)[0].outcome == "ran"
    assert len(home.worked.sent) == 2
    assert not home.book.tended()


async def test_what_was_settled_is_not_read_again_and_nothing_is_forgotten_by_that(home):
    born(home, replace(JOB, misfire="all", deliver=()), another(2, schedule="0 9 * * *", deliver=()))
    home.chance.seconds = 1
    for _ in range(2):
        home.clock.jump(3 * DAY)
        await home.tick()
    settled = {fact.job for fact in home.of(Settled)}
    assert JOB.id in settled
    assert len(home.book.facts((JOB.id,))) < len(home.facts()) / 2
    home.clock.jump(-DAY)
    assert await home.tick() == [()], "a clock that is set back runs nothing again"
    home.book.record(RunWanted(JOB.id, "01234567-asked-beef"))
    ((handled,),) = await home.tick()
    assert "beef" in handled.text
    home.clock.jump(2 * DAY)
    await home.tick()
    check(home, home.clock.now())


async def test_weeks_of_missed_minutes_are_let_go_of_in_one_tick(home):
    home.chance.seconds = 1
    born(home, replace(JOB, schedule="* * * * *", deliver=()))
    home.clock.jump(20 * DAY)
    (handled,) = await home.tick()
    assert handled[-1].text.startswith("ran")
    rows = [due for fact in home.of(Skipped) for due in fact.due]
    assert rows[: 20 * 24 * 60 - 1] == [T + 60 * n for n in range(1, 20 * 24 * 60)]
    assert home.of(RunBegan)[0].due >= T + 20 * DAY
    assert max(len(fact.due) for fact in home.of(Skipped)) == MOST
    check(home, home.clock.now())


async def test_a_bug_of_ours_is_raised_and_costs_no_other_job_its_run(home):
    class Bug(Exception):
        pass

    born(home, JOB, another(2))
    home.clock.jump(HOUR)
    ticker = home.ticker()
    real = ticker._means.runner.run

    async def run(work: Any, stop: Stop) -> Any:
        if work.job.id == JOB.id:
            raise Bug
        return await real(work, stop)

    ticker._means.runner.run = run
    (error,) = await home.clock.through(ticker.tick(Stop()))
    assert isinstance(error, Bug)
    assert [fact.job for fact in home.of(RunEnded)] == [another(2).id]
    await home.tick()
    assert {fact.why for fact in home.of(RunEnded)} == {"", ORPHANED}
