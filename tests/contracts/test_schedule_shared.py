"""Several machines on one store: whose jobs run where, that an instant runs once among them all, and what becomes of it
when one of them dies or the store is away.

A machine is a process with a home of its own; its runs do nothing, but say so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from uuid import uuid4

import pytest

from hermes_kernel.core.planned import JobSet, RunWanted
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.place import here
from hermes_kernel.scheduling.scheduling import open_jobs
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store.opening import open_store
from tests.contracts.stores import ROOT
from tests.postgres import postgres, url  # noqa: F401 - fixtures
from tests.soon import SOON

HOUR = 3_600

MACHINE = r"""
import asyncio, os, sys
from pathlib import Path
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.means import Means
from hermes_kernel.scheduling.place import here
from hermes_kernel.scheduling.ports import Ran
from hermes_kernel.scheduling.ticking import Ticker
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.opening import open_store

home, url, ran = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def say(*words):
    os.write(1, (" ".join(words) + "\n").encode())

class Runner:
    async def run(self, work, stop):
        with open(ran, "ab", 0) as file:
            file.write(f"{home.name} {work.run}\n".encode())
        if work.job.prompt != "long":
            return Ran("ran", text="done")
        say("runs")
        await stop.wait()
        return Ran("stopped", f"stopped by {stop.by}")

class Deliverer:
    async def deliver(self, report, target):
        say("told", target, report.outcome, report.why)
        return ""

store, clock = open_store(home, url), SystemClock()
means = Means(Book(store, fresh_id, clock), Runner(), Deliverer(), FileBell(home), Agenda(home), clock, here(home), home,
              workers=2, shared=True)
say("ready")
for _ in sys.stdin:
    try:
        asyncio.run(Ticker(means).tick(Stop(), lambda handled: say("did", str(handled))))
        say("ticked")
    except StoreError as error:
        say("away", str(error))
store.close()
"""


class Machines:
    def __init__(self, folder, url):  # noqa: F811
        self.folder, self.url, self.ran, self.running = folder, url, folder / "ran", []
        self.store = open_store(folder / "desk", url)
        self.book = Book(self.store, lambda: uuid4().hex)

    def start(self, name):
        command = [sys.executable, "-c", MACHINE, str(self.folder / name), self.url, str(self.ran)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        self.running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    def job(self, hours, *, place="", prompt="quick", name="job"):
        """A job with so many instants that are due and each to be run."""
        since = float(int(time.time()) // HOUR * HOUR - hours * HOUR)
        job = Job(
            uuid4().hex, name, "every 1h", "UTC", since=since, prompt=prompt, place=place, misfire="all",
            deliver=("team",),
        )  # fmt: skip
        self.book.record(JobSet(job))
        return job, [run_id(job.id, since + n * HOUR) for n in range(1, hours + 1)]

    def runs(self):
        """By which home each run was run."""
        return [tuple(line.split()) for line in self.ran.read_text().splitlines()] if self.ran.exists() else []

    def end(self):
        for process in self.running:
            process.kill()
            process.communicate()
        self.store.close()


@pytest.fixture
def machines(tmp_path, url):  # noqa: F811
    machines = Machines(tmp_path, url)
    yield machines
    machines.end()


def go(process):
    process.stdin.write("tick\n")


def until(process, said):
    """What it says up to the line that begins so."""
    heard = []
    for line in process.stdout:
        heard.append(line.strip())
        if heard[-1].startswith(said):
            return heard
    raise AssertionError(f"it ended before {said!r}: {heard[-3:]}")


def ticked(process):
    go(process)
    return until(process, "ticked")


def test_an_instant_runs_once_among_three_machines_and_a_pinned_one_only_at_home(machines):
    three = [machines.start(name) for name in ("one", "two", "three")]
    expected = []
    for n in range(6):
        expected += machines.job(4, name=f"anywhere-{n}")[1]
    pinned = machines.job(5, place=here(machines.folder / "two"))[1]
    nobody = machines.job(2, place="0123456789abcdef")[1]
    for machine in three:
        go(machine)
    for machine in three:
        until(machine, "ticked")
    for machine in three:  # what another was at when it looked
        ticked(machine)
    runs = machines.runs()
    assert sorted(run for _, run in runs) == sorted(expected + pinned)
    assert {home for home, run in runs if run in pinned} == {"two"}
    assert not {run for _, run in runs} & set(nobody)
    assert len({home for home, _ in runs}) > 1


def test_a_machine_that_dies_in_mid_run_is_made_up_for_by_another_which_closes_the_run_and_tells(machines):
    one, two = machines.start("one"), machines.start("two")
    [_, [run]] = machines.job(1, prompt="long")
    go(one)
    until(one, "runs")
    assert ticked(two) == ["ticked"]  # it is in good hands
    one.kill()
    one.wait()
    end = time.monotonic() + 20
    heard = ticked(two)
    while heard == ["ticked"] and time.monotonic() < end:
        heard = ticked(two)
    assert any("failed, the process that ran it ended in mid-run" in line for line in heard)
    assert "told team failed the process that ran it ended in mid-run" in heard
    assert machines.runs() == [("one", run)]
    assert ticked(two) == ["ticked"]


def test_a_run_is_stopped_from_another_machine_within_two_seconds(machines):
    one = machines.start("one")
    job, [run] = machines.job(1, prompt="long")
    go(one)
    until(one, "runs")
    settings = Settings(home=machines.folder / "desk", store_url=machines.url)
    jobs = open_jobs(settings, machines.store, SystemClock(), lambda: uuid4().hex)
    began = time.monotonic()
    jobs.stop(job.id)
    heard = until(one, "ticked")
    assert time.monotonic() - began < SOON
    assert any(line.startswith("did job: stopped") and "stopped by a person" in line for line in heard)
    assert machines.runs() == [("one", run)]


def test_while_the_store_is_away_nobody_runs_what_others_may_run_and_nothing_is_lost(machines, postgres):  # noqa: F811
    one, two = machines.start("one"), machines.start("two")
    _, [first] = machines.job(1, name="first")
    ticked(one)
    ticked(two)
    job, rest = machines.job(3, name="second")
    machines.book.record(RunWanted(job.id, f"{job.id[:8]}-asked-0001"))
    postgres.stop()
    try:
        for machine in (one, two):
            go(machine)
            assert not any("ran in" in line for line in until(machine, ("ticked", "away")))
        assert machines.runs() == [("one", first)]
    finally:
        postgres.start()
    end = time.monotonic() + 30
    while len(machines.runs()) < 5 and time.monotonic() < end:
        for machine in (one, two):
            go(machine)
            until(machine, ("ticked", "away"))
    assert sorted(run for _, run in machines.runs()) == sorted([first, *rest, f"{job.id[:8]}-asked-0001"])
