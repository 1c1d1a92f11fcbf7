"""A shared store whose line breaks while a machine is about to act on a job that another then takes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from hermes_kernel.core.planned import ORPHANED, JobSet, RunBegan, RunEnded
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.means import Means
from hermes_kernel.scheduling.ports import Ran
from hermes_kernel.scheduling.ticking import Ticker
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store.opening import open_store
from tests.postgres import postgres, url  # noqa: F401 - fixtures

HOUR = 3_600
JOB = Job(uuid4().hex, "job", "every 1h", "UTC", since=0.0, prompt="x", misfire="all", deliver=("team",))


class Machine:
    """A home of its own, a ticker whose runs and reports are written down, and something that happens to it at a deed."""

    def __init__(self, home: Any, url: str, done: list[str]) -> None:  # noqa: F811
        self.home, self.done = home, done
        self.store = open_store(home, url)
        self.before: dict[type, Callable[[], None]] = {}
        self.running: Callable[[], None] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def append(self, session: str, *facts: Any) -> None:
        for fact in facts:
            self.before.pop(type(fact), lambda: None)()
        self.store.append(session, *facts)

    async def run(self, work: Any, stop: Stop) -> Ran:
        self.done.append(f"{self.home.name} runs {work.run}")
        self.running()
        return Ran("ran", text="done")

    async def deliver(self, report: Any, target: str) -> str:
        self.done.append(f"{self.home.name} tells {report.outcome}")
        return ""

    def tick(self) -> None:
        home, book = self.home, Book(self, lambda: uuid4().hex)  # type: ignore[arg-type]
        means = Means(
            book, self, self, FileBell(home), Agenda(home), SystemClock(), home.name, home, 2, shared=True  # type: ignore[arg-type]
        )  # fmt: skip
        asyncio.run(Ticker(means).tick(Stop()))


@pytest.fixture
def machines(tmp_path, url):  # noqa: F811
    done: list[str] = []
    made = [Machine(tmp_path / name, url, done) for name in ("one", "two")]
    yield made
    for each in made:
        each.store.close()


def due(machine: Machine, hours: int) -> None:
    """There is a job of which so many instants are due."""
    since = float(int(time.time()) // HOUR * HOUR - hours * HOUR)
    Book(machine.store, lambda: uuid4().hex).record(JobSet(replace(JOB, since=since)))


def cut(postgres, url):  # noqa: F811
    """All lines break, and the server knows it."""
    name = url.rpartition("/")[2]
    postgres.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'")


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_who_lost_a_job_to_another_between_looking_and_beginning_runs_nothing(machines, postgres, url):  # noqa: F811
    one, two = machines
    due(one, hours=1)

    def meanwhile() -> None:
        cut(postgres, url)
        threading.Thread(target=two.tick).start()
        until(lambda: "two tells ran" in one.done)

    one.before[RunBegan] = meanwhile
    one.tick()
    assert [each.partition(" runs ")[0] for each in one.done if " runs " in each] == ["two"]
    assert [each.fact.outcome for each in two.store.learnt((RunEnded,))] == ["ran"]


def test_who_lost_a_job_while_it_ran_records_how_that_ended_and_leaves_to_the_other_what_that_is_at(
    machines, postgres, url  # noqa: F811
):  # fmt: skip
    one, two = machines
    due(one, hours=2)
    over = threading.Event()
    two.running = lambda: over.wait(20)
    other = threading.Thread(target=two.tick)

    def meanwhile() -> None:
        cut(postgres, url)
        other.start()
        until(lambda: any(" runs " in each for each in one.done[1:]))

    one.running = meanwhile
    one.tick()
    over.set()
    other.join()
    assert "one tells failed" not in one.done
    ends = [each.fact for each in two.store.learnt((RunEnded,))]
    assert [each.outcome for each in ends if each.why != ORPHANED] == ["ran", "ran"]
    assert len({each.run for each in ends if each.why == ORPHANED}) == 1
