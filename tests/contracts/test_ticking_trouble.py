"""A store that cannot be read or claimed for a moment, while a tick that lasts for days has runs to see to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hermes_kernel.core.planned import JobSet, RunBegan, RunEnded, StopWanted
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.test_ticking import HOUR, Set, T
from tests.contracts.ticked import HERE, Home, Jumping, check

LONG = Job("0123456789abcdef", "long", "0 * * * *", "UTC", since=T, prompt="Look.", deliver=("a",), place=HERE)
SHORT = Job("fedcba9876543210", "short", "30 * * * *", "UTC", since=T, prompt="Look.", misfire="all", place=HERE)


class Moody:
    """A store that once does not claim ``unclaimed``, and cannot be read from one time until another (``unread``)."""

    def __init__(self, store: MemoryLog, clock: Jumping) -> None:
        self._store, self._clock = store, clock
        self.unclaimed, self.unread = "", (0.0, 0.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def claim(self, session: str) -> Any:
        if session == self.unclaimed:
            self.unclaimed = ""
            raise StoreError("the disk is full")
        return self._store.claim(session)

    def learnt(self, kinds: Any, since: float = 0) -> Any:
        begin, end = self.unread
        if begin <= self._clock.now() < end:
            raise StoreError("another program holds the database open")
        return self._store.learnt(kinds, since)


@pytest.fixture
def home(tmp_path):
    clock = Jumping(T)
    return Home(Moody(MemoryLog(clock=clock), clock), clock, tmp_path / "home", Set())  # type: ignore[arg-type]


async def test_a_job_that_could_not_be_claimed_once_has_its_instants_done_while_another_runs_on(home):
    home.book.record(JobSet(LONG), JobSet(SHORT))
    home.clock.jump(HOUR)
    home.store.unclaimed = SHORT.id
    said: list[Any] = []
    await home.clock.through(home.ticker().tick(Stop(), said.append))
    long, short = (next(each for each in home.facts() if _begins(each.fact, job)) for job in (LONG, SHORT))
    assert short.t < long.t + Set.seconds
    assert [each.text for each in said if each.text == "the disk is full"] == ["the disk is full"]
    check(home, home.clock.now())


def _begins(fact: Any, job: Job) -> bool:
    return isinstance(fact, RunBegan) and fact.job == job.id


async def test_a_run_goes_on_while_the_store_cannot_be_read_and_its_end_is_what_it_was(home):
    home.book.record(JobSet(LONG))
    home.clock.jump(HOUR)
    home.store.unread = (T + HOUR + 100, T + HOUR + 290)
    await home.tick()
    assert [(each.outcome, each.why) for each in home.of(RunEnded)] == [("ran", "")]
    check(home, home.clock.now())


async def test_a_run_is_stopped_that_is_to_be_though_no_bell_could_be_rung_for_it(home):
    home.book.record(JobSet(replace(LONG, repeat=1)))
    home.clock.jump(HOUR)
    home.chance.seconds = 12 * HOUR

    async def meanwhile() -> None:
        await home.clock.sleep(100)
        home.book.record(StopWanted(home.worked.runs[0]))

    await home.clock.through(home.ticker().tick(Stop()), meanwhile())
    begun, ended = (
        each
        for each in home.facts()
        if isinstance(each.fact, RunBegan | RunEnded) and each.fact.run == home.worked.runs[0]
    )
    assert (ended.fact.outcome, ended.fact.why) == ("stopped", "stopped by a person")
    assert ended.t - begun.t < HOUR


async def test_who_has_nothing_to_see_to_says_that_the_store_cannot_be_read(home):
    home.book.record(JobSet(LONG))
    home.store.unread = (T, T + HOUR)
    with pytest.raises(StoreError, match="holds the database open"):
        await home.ticker().tick(Stop())
