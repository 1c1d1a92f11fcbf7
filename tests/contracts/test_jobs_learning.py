"""What the slow loops know of jobs: what they did, when they do it next, and which skills they wait for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hermes_kernel.core.events import Asked, Final, Opened, Outcome, Replied
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.planned import RunBegan, RunEnded, Skipped, Told
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.learning.loops import loops
from hermes_kernel.learning.lore import open_learning
from hermes_kernel.world.store.retention.deletion import stale
from tests.contracts.curated import text
from tests.contracts.planned import DAY, HOUR, NOON, House
from tests.contracts.stores import counted


@pytest.fixture(params=["in journals", "folded"])
def house(request, tmp_path):
    made = House(tmp_path)
    made.settle = made.log.fold if request.param == "folded" else lambda: None
    return made


def row(house):
    house.settle()
    return next(each for each in loops(house.log, house.settings) if each.loop == "schedule")


def test_a_home_without_jobs_says_so(house):
    told = row(house)
    assert (told.number, told.last, told.next, told.wrote, told.read) == (7, None, "no jobs yet", "nothing yet", "")


def test_the_loop_of_jobs_is_told_with_its_runs_its_next_time_and_what_it_cost(house):
    job = house.jobs.add("every 2h", "x", name="sales")
    assert row(house).next == "2026-12-01 14:00 UTC: sales"
    house.log.append(
        "s1", Opened("s1", kind="run"), Asked("x"), Replied("Done.", usage=Usage(1, 900, 100, cost=0.25)),
        Final(Outcome.COMPLETED, "Done."),
    )  # fmt: skip
    due = NOON + 2 * HOUR
    house.clock.time = due + 4 * HOUR
    run, other = run_id(job.id, due), run_id(job.id, due + 4 * HOUR)
    house.book.record(
        RunBegan(job.id, run, due), RunEnded(job.id, run, due, "ran", session="s1"), Told(job.id, run, "team"),
        Skipped(job.id, (due + 2 * HOUR,), "missed"), RunBegan(job.id, other, due + 4 * HOUR),
    )  # fmt: skip
    told = row(house)
    assert told.wrote == "2 runs: 1 ran, 1 skipped; the last: sales"
    assert (told.last, told.read, told.cost) == (house.clock.time, "told 1 time", "1 call, 1,000 tokens, $0.2500")
    house.jobs.pause("sales")
    assert row(house).next == "1 job, none enabled"


def test_what_a_run_says_is_no_conversation_of_the_persons(house):
    house.log.append("s1", Opened("s1", kind="run"), Asked("x"), Final(Outcome.COMPLETED, "Done."))
    house.settle()
    assert house.log.latest() in {None, "s1"}
    house.log.append("s2", Opened("s2"), Asked("y"), Final(Outcome.COMPLETED, "Yes."))
    house.log.append("s3", Opened("s3", kind="run"), Asked("x"), Final(Outcome.COMPLETED, "Done."))
    assert house.log.latest() == "s2"


def test_a_skill_that_a_job_names_is_not_put_away(house):
    lore = open_learning(replace(house.settings, learning=True), house.log, house.clock, counted("lore"))
    for name in ("monthly-report", "forgotten"):
        lore.workshop.create(name, text(name), by="model", session="s", why="")
    job = house.jobs.add("every 2h", "x", name="sales", skills=["monthly-report"])
    house.clock.time += 400 * DAY
    assert [each.name for each in lore.curator.plan().moves] == ["forgotten"]
    assert [life.name for life in lore.curator.lives() if life.scheduled] == ["monthly-report"]
    house.jobs.remove(job.id)
    assert sorted(each.name for each in lore.curator.plan().moves) == ["forgotten", "monthly-report"]


def test_jobs_have_no_age(house):
    house.jobs.add("every 2h", "x", name="sales")
    house.log.append("s1", Opened("s1", kind="run"), Asked("x"), Final(Outcome.COMPLETED, "Done."))
    house.settle()
    house.clock.time += 400 * DAY
    assert stale(house.log.home, house.clock.time) == ["s1"]
