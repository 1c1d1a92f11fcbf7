"""A scheduler: when it ticks, that there is one for each home, what it says while the store is away, how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.pacing import is_time
from hermes_kernel.scheduling.posts import SCHEDULER, Post
from hermes_kernel.scheduling.staying import ALONE, FOLD, PAUSE, Folding, Scheduler, stay, take_post
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stop, Stopped
from hermes_kernel.world.store.disk import StoreError
from tests.contracts.stores import ROOT
from tests.soon import SOON

NOON = 1_796_126_400.0

ALONE_AT_IT = """
import asyncio, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may be run under nohup
from pathlib import Path
from hermes_kernel.scheduling.staying import stay
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stopped

class Ticker:
    async def tick(self, stop, tell):
        print("ticking", flush=True)
        await stop.wait()
        await asyncio.sleep(float(sys.argv[2]))
        tell(f"stopped by {stop.by}")

def say(line):
    print(line, flush=True)

asyncio.run(stay(Ticker, Settings(home=Path(sys.argv[1])), SystemClock(), say, wait=True))
print("and out", flush=True)
"""


class Steps:
    """A clock of which a sleep is a step: the time is what it says, and `script` says what else has happened by then."""

    def __init__(self, script):
        self.time, self.script = NOON, script

    def now(self):
        return self.time

    def elapsed(self):
        return self.time

    def chance(self):
        return 0.5

    async def sleep(self, seconds):
        self.time += seconds
        self.script(self.time - NOON)
        await asyncio.sleep(0)


class Ticker:
    """Says when it was called, and raises what is put into `away`."""

    def __init__(self, clock):
        self.clock, self.at, self.away = clock, [], ""

    async def tick(self, stop, tell):
        self.at.append(self.clock.now() - NOON)
        if self.away:
            raise StoreError(self.away)
        tell(f"tick {len(self.at)}")


def kept(home, script, seconds, **how):
    """What a scheduler did in so many seconds, and said; `script` is told the time and the ticker before each look."""
    stop, said = Stop(), []

    def step(at):
        script(at, ticker)
        if at >= seconds:
            stop.press("SIGTERM")

    clock = Steps(step)
    ticker = Ticker(clock)
    asyncio.run(Scheduler(ticker, home, clock, said.append, **how).stay(stop))
    return ticker.at, said


def nothing(at, ticker):
    pass


@pytest.mark.parametrize(
    ("due", "rung", "began", "expected"),
    [
        (None, False, -60, False),  # nothing is to be done
        (None, True, -1, True),  # somebody rang
        (-1, False, -60, True),  # came due since the last tick
        (0, False, -60, True),
        (1, False, -60, False),  # not yet
        (-70, False, -60, False),  # was due when the last tick began: seen
        (-70, False, -120, True),  # and again after a while
        (-70, False, 60, True),  # the clock was set back
        (-70, False, float("-inf"), True),  # nobody has ticked
        (float("-inf"), True, -1, True),
    ],
)
def test_when_it_is_time_to_tick(due, rung, began, expected):
    at = None if due is None else NOON + due
    assert is_time(NOON, began=NOON + began, due=at, rung=rung, pause=90) is expected


def test_a_scheduler_ticks_when_it_begins_when_something_is_due_and_when_it_is_rung(tmp_path):
    agenda, bell = Agenda(tmp_path), FileBell(tmp_path)

    def script(at, ticker):
        agenda.write(NOON + 30 if at <= 30 else None)
        if at == 50:
            bell.ring("jobs")

    at, said = kept(tmp_path, script, 100)
    assert at == [0, 30, 50]
    assert said == ["tick 1", "tick 2", "tick 3"]
    assert not bell.rung("jobs")


def test_a_scheduler_of_a_store_of_its_own_looks_there_once_in_a_while(tmp_path):
    at, _ = kept(tmp_path, nothing, 2 * ALONE)
    assert at == [0, ALONE]


def test_a_scheduler_of_a_shared_store_looks_often_for_what_no_bell_tells_of(tmp_path):
    at, _ = kept(tmp_path, nothing, 4 * PAUSE, shared=True)
    assert at == [0, PAUSE, 2 * PAUSE, 3 * PAUSE]


def test_what_another_process_is_at_is_not_asked_for_at_every_look(tmp_path):
    Agenda(tmp_path).write(NOON - 5)
    at, _ = kept(tmp_path, nothing, 3 * PAUSE)
    assert at == [0, PAUSE, 2 * PAUSE]


def test_a_store_that_is_away_is_said_once_and_gone_on_with_when_it_is_back(tmp_path):
    def script(at, ticker):
        FileBell(tmp_path).ring("jobs")
        ticker.away = "the server does not answer" if 10 <= at < 100 else ""

    at, said = kept(tmp_path, script, 120)
    words = [line for line in said if not line.startswith("tick")]
    assert words == ["the server does not answer", "the store can be used again"]
    assert len([when for when in at if 10 <= when < 100]) <= 90 / PAUSE + 1
    assert at[-1] > 100


def test_what_a_scheduler_wrote_is_folded_once_in_a_while_and_never_for_nothing():
    async def folds(handled, minutes):
        clock, folded = Steps(lambda _: None), []

        class Each:
            async def tick(self, stop, tell):
                await clock.sleep(60)
                for each in handled:
                    tell(each)

        folding = Folding(Each(), clock, lambda: folded.append(clock.time - NOON))
        for _ in range(minutes):
            told = []
            await folding.tick(Stop(), told.append)
            assert tuple(told) == handled
        return folded

    assert asyncio.run(folds(("ran",), 30)) == [FOLD, 2 * FOLD, 3 * FOLD]
    assert asyncio.run(folds((), 30)) == []


def test_a_second_scheduler_says_who_is_at_it(tmp_path):
    first = Post(tmp_path, SCHEDULER)
    assert first.take()
    with pytest.raises(HermesError, match=rf"^process {os.getpid()} is the scheduler of .* --wait$"):
        asyncio.run(stay(Ticker, Settings(home=tmp_path), SystemClock(), print))


def test_a_second_scheduler_that_waits_takes_over(tmp_path):
    first, said = Post(tmp_path, SCHEDULER), []
    first.take()
    clock = Steps(lambda at: first.leave() if at > 60 else None)
    second = asyncio.run(take_post(tmp_path, clock, Stop(), said.append))
    assert said == [f"process {os.getpid()} is the scheduler of {tmp_path}: waiting for its place"]
    assert not first.take()
    second.leave()


def test_who_waits_for_a_place_can_be_stopped(tmp_path):
    first, stop = Post(tmp_path, SCHEDULER), Stop()
    first.take()
    clock = Steps(lambda at: stop.press("SIGTERM") if at > 60 else None)
    with pytest.raises(Stopped):
        asyncio.run(take_post(tmp_path, clock, stop, lambda _: None))


@pytest.fixture
def at_it(tmp_path):
    """``at_it(seconds)``: a scheduler in a process of its own, whose tick takes so long to end once it is stopped."""
    running = []

    def start(seconds=0.0):
        command = [sys.executable, "-c", ALONE_AT_IT, str(tmp_path), str(seconds)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment)
        running.append(process)
        assert process.stdout.readline() == f"the scheduler of {tmp_path} is at work\n"
        assert process.stdout.readline() == "ticking\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_it_once_what_runs_has_been_stopped(tmp_path, at_it, name):
    process = at_it()
    assert Post(tmp_path, SCHEDULER).holder() == f"process {process.pid}"
    process.send_signal(getattr(signal, name))
    out, _ = process.communicate(timeout=10 * SOON)
    assert out.splitlines() == [f"stopped by {name}", f"the scheduler of {tmp_path} has ended ({name})", "and out"]
    assert process.returncode == 0
    assert Post(tmp_path, SCHEDULER).holder() == ""


def test_a_second_signal_does_not_wait_for_what_hangs(at_it):
    process = at_it(600.0)
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(5) == -signal.SIGTERM
