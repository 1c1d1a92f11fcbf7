"""A kernel that watches over jobs: when it starts a tick, when it does not, and who of several watches."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.posts import SCHEDULER, WATCH, Post
from hermes_kernel.scheduling.ticks import LOG_KEPT, LOG_MOST, failed_tick, start_tick, trim_log
from hermes_kernel.scheduling.watch import CHUNK, LOOK, PAUSE, Watch, watcher
from tests.contracts.stores import ROOT

NOON = 1_796_126_400.0

HOLD = r"""
import os, sys
from pathlib import Path
from hermes_kernel.scheduling.posts import Post
post = Post(Path(sys.argv[1]), sys.argv[2])
assert post.take()
if len(sys.argv) > 3 and os.fork() == 0:
    os.write(1, b"child\n")
    sys.stdin.read()
    os._exit(0)
os.write(1, b"taken\n")
sys.stdin.read()
"""


class Watched:
    """A watch over a home at a time that is set, whose ticks are processes that do `command`."""

    def __init__(self, home, **how):
        self.home, self.now, self.command, self.ticks = home, NOON, ["true"], []
        self.agenda, self.bell = Agenda(home), FileBell(home)
        self.watch = Watch(home, now=lambda: self.now, start=self.start, **how)

    def start(self, home):
        assert home == self.home
        self.ticks.append(subprocess.Popen(self.command))
        return self.ticks[-1]

    def look(self, seconds=0.0):
        """One look, `seconds` later; how many ticks there were by then."""
        self.now += seconds
        self.watch.look()
        return len(self.ticks)

    def ended(self):
        """The last tick is over, and seen to be."""
        self.ticks[-1].wait()

    def end(self):
        self.watch.close()
        for tick in self.ticks:
            tick.kill()
            tick.wait()


@pytest.fixture
def watched(tmp_path):
    watched = Watched(tmp_path)
    yield watched
    watched.end()


@pytest.fixture
def holding(tmp_path):
    """``holding("watch")``: another process at that post."""
    running = []

    def start(name, *how):
        command = [sys.executable, "-c", HOLD, str(tmp_path), name, *how]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )
        running.append(process)
        said = sorted(process.stdout.readline().strip() for _ in range(1 + len(how)))
        assert said[-1] == "taken"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_in_a_home_without_jobs_nothing_is_made_and_nothing_started(watched):
    assert watched.watch.look() == CHUNK
    assert list(watched.home.iterdir()) == []
    assert watched.ticks == []


def test_a_tick_is_started_when_its_time_has_come_and_once(watched):
    watched.agenda.write(NOON + 90)
    assert watched.look() == 0
    assert watched.watch.look() == LOOK
    assert watched.look(89) == 0
    assert watched.look(1) == 1
    watched.ended()
    watched.agenda.write(NOON + 3600)
    assert watched.look(1) == 1
    assert watched.look(600) == 1
    assert watched.look(3600) == 2


def test_time_asleep_has_passed(watched):
    watched.agenda.write(NOON + 90)
    assert watched.look() == 0
    assert watched.look(8 * 3600) == 1


def test_no_tick_is_started_beside_one_that_goes_on(watched):
    watched.command = ["sleep", "600"]
    watched.agenda.write(NOON)
    assert watched.look() == 1
    watched.agenda.write(NOON + 60)
    watched.bell.ring("jobs")
    assert watched.look(3600) == 1
    watched.ticks[0].terminate()
    watched.ended()
    assert watched.look(PAUSE) == 2


def test_a_bell_starts_a_tick_at_once(watched):
    watched.agenda.write(None)
    assert watched.look() == 0
    watched.bell.ring("jobs")
    assert watched.look() == 1
    assert not watched.bell.rung("jobs")
    watched.ended()
    watched.bell.ring("jobs")
    assert watched.look(1) == 2


def test_what_a_tick_left_as_it_was_is_left_alone_for_a_minute(watched):
    watched.agenda.write(NOON - 30)  # its job is being run by another process
    assert watched.look() == 1
    watched.ended()
    assert watched.look(PAUSE - 1) == 1
    assert watched.look(2) == 2


def test_what_came_due_since_the_last_tick_is_not_left_waiting(watched):
    watched.agenda.write(NOON - 30)
    assert watched.look() == 1
    watched.ended()
    watched.agenda.write(NOON + 5)
    assert watched.look(5) == 2


@pytest.mark.parametrize("damage", ["", "{"])
def test_a_damaged_agenda_has_a_tick_once_a_minute(watched, damage):
    watched.agenda.write(None)
    (watched.home / "schedule" / "agenda.json").write_text(damage)
    assert watched.look() == 1
    watched.ended()
    assert watched.look(PAUSE - 1) == 1
    assert watched.look(1) == 2


def test_a_clock_that_was_set_back_holds_nothing_up(watched):
    watched.agenda.write(NOON)
    assert watched.look() == 1
    watched.ended()
    watched.agenda.write(NOON - 3600)
    assert watched.look(-3600) == 2


def test_ticks_that_fail_are_a_minute_apart_and_what_they_said_is_known(watched):
    (watched.home / "schedule").mkdir()
    (watched.home / "schedule" / "tick.log").write_text("fine\n\x1b[31mthe disk is full\n\n")
    watched.command = ["false"]
    watched.agenda.write(NOON)
    assert watched.look() == 1
    watched.ended()
    watched.agenda.write(NOON + 1)
    watched.bell.ring("jobs")
    assert watched.look(30) == 1
    failed = failed_tick(watched.home)
    assert (failed.at, failed.code) == (NOON + 30, 1)
    assert failed.said.endswith("the disk is full")
    assert "\x1b" not in failed.said
    watched.command = ["true"]
    assert watched.look(31) == 2
    watched.ended()
    watched.look(1)
    assert failed_tick(watched.home) is None


def test_what_a_failed_tick_was_rung_for_is_looked_at_again_also_by_another_kernel(watched):
    watched.agenda.write(None)
    watched.bell.ring("jobs")
    watched.command = ["false"]
    assert watched.look() == 1
    watched.ended()
    assert watched.look(1) == 1
    watched.watch.close()
    other = Watched(watched.home)
    assert other.look() == 1
    other.end()


def test_a_tick_that_cannot_be_started_is_tried_again_a_minute_later(tmp_path):
    began = []

    def start(home):
        began.append(home)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    now = [NOON]
    watch = Watch(tmp_path, now=lambda: now[0], start=start)
    Agenda(tmp_path).write(NOON)
    watch.look()
    now[0] += 30
    watch.look()
    assert len(began) == 1
    assert failed_tick(tmp_path).said == "no process can be started: Resource temporarily unavailable"
    now[0] += 31
    watch.look()
    assert len(began) == 2
    watch.close()


def test_where_a_store_is_shared_jobs_of_other_homes_are_looked_for_once_a_minute(tmp_path):
    watched = Watched(tmp_path, shared=True)
    try:
        assert watched.look() == 1
        watched.ended()
        watched.agenda.write(NOON + 86_400)
        assert watched.look(PAUSE - 1) == 1
        assert watched.look(1) == 2
    finally:
        watched.end()


def test_of_two_watches_one_watches_and_the_other_takes_over(watched):
    other = Watched(watched.home)
    watched.agenda.write(NOON)
    assert (watched.look(), other.look()) == (1, 0)
    watched.watch.close()
    assert other.look() == 1
    other.end()


def test_a_watch_takes_over_from_a_process_that_was_killed(watched, holding):
    process = holding(WATCH)
    watched.agenda.write(NOON)
    assert watched.look() == 0
    assert watcher(watched.home) == f"an open kernel (process {process.pid})"
    process.kill()
    process.wait()
    assert watched.look() == 1
    assert watcher(watched.home) == f"an open kernel (process {os.getpid()})"


def test_a_watch_takes_over_from_a_process_that_was_killed_and_left_a_forked_child(watched, holding):
    process = holding(WATCH, "fork")
    watched.agenda.write(NOON)
    assert watched.look() == 0
    process.kill()
    process.wait()
    assert watched.look() == 1


def test_a_watch_steps_back_while_there_is_a_scheduler(watched, holding):
    watched.agenda.write(NOON + 10)
    watched.look()
    scheduler = holding(SCHEDULER)
    assert watched.look(20) == 0
    assert Post(watched.home, WATCH).holder() == ""
    assert watcher(watched.home) == f"a scheduler (process {scheduler.pid})"
    scheduler.kill()
    scheduler.wait()
    assert watcher(watched.home) == ""
    assert watched.look() == 1


def test_to_ask_who_holds_a_post_takes_it_from_no_one(tmp_path):
    post = Post(tmp_path, WATCH)
    assert Post(tmp_path, WATCH).holder() == ""
    assert list(tmp_path.iterdir()) == []
    assert post.take()
    assert post.take()
    assert Post(tmp_path, WATCH).holder() == f"process {os.getpid()}"
    assert not Post(tmp_path, WATCH).take()
    post.leave()
    post.leave()
    assert Post(tmp_path, WATCH).holder() == ""
    assert stat.S_IMODE((tmp_path / "schedule" / "watch.lock").stat().st_mode) == 0o600


def test_a_thread_that_watches_ends_at_once_and_its_tick_goes_on(watched):
    watched.command = ["sleep", "600"]
    watched.agenda.write(NOON)
    closed = threading.Event()
    thread = threading.Thread(target=watched.watch.until, args=(closed,))
    thread.start()
    end = time.monotonic() + 10
    while not watched.ticks and time.monotonic() < end:
        time.sleep(0.01)
    began = time.monotonic()
    closed.set()
    thread.join()
    assert time.monotonic() - began < LOOK
    assert watched.ticks[0].poll() is None
    assert Post(watched.home, WATCH).take()


def test_a_home_that_is_away_is_no_error(tmp_path):
    (tmp_path / "home").write_text("no folder")
    assert Watch(tmp_path / "home", shared=True).look() == CHUNK


def test_a_tick_is_a_process_of_its_own_whose_words_are_in_a_private_file(tmp_path):
    process = start_tick(tmp_path)
    assert os.getsid(process.pid) == process.pid
    process.wait(60)
    log = tmp_path / "schedule" / "tick.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_log_of_ticks_does_not_grow_for_ever(tmp_path):
    log = tmp_path / "schedule" / "tick.log"
    log.parent.mkdir()
    line = b"x" * 79 + b"\n"
    with log.open("ab") as writing:
        writing.write(line * (LOG_MOST // 80 + 1))
        writing.flush()
        trim_log(tmp_path)
        writing.write(b"and on\n")
    said = log.read_bytes()
    assert LOG_KEPT - 200 < len(said) < LOG_KEPT + 200
    assert said.startswith(line)
    assert said.endswith(line + b"and on\n")
