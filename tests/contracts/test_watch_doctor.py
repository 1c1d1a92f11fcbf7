"""What the doctor says of jobs: how many, who sees to them, what is overdue, what went wrong."""

from __future__ import annotations

import os
from uuid import uuid4

import pytest

from hermes_kernel.core.planned import JobSet
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.doctor import State, examine
from hermes_kernel.doctor.planned import planned
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.place import here
from hermes_kernel.scheduling.posts import SCHEDULER, WATCH, Post
from hermes_kernel.scheduling.ticks import note_end
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.opening import open_store

NOW = SystemClock().now()


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "home", base_url="http://127.0.0.1:9/v1", model="none")


def have(settings, *, ago, place=None):
    """A job each day, made so many seconds ago."""
    store = open_store(settings.home)
    place = here(settings.home) if place is None else place
    job = Job(uuid4().hex, "daily", "every 1d", "UTC", since=float(int(NOW - ago)), prompt="Look.", place=place)
    Book(store, lambda: uuid4().hex).record(JobSet(job))
    store.close()
    Agenda(settings.home).write(job.since + 86_400)


def only(settings):
    [finding] = planned(settings)
    return finding


def test_of_a_home_without_jobs_nothing_is_said_and_nothing_made(settings):
    assert list(planned(settings)) == []
    assert not settings.home.exists()


def test_nobody_sees_to_the_jobs_of_a_home_without_an_open_kernel(settings):
    have(settings, ago=60)
    found = only(settings)
    assert found.state is State.NOTE
    assert found.said.startswith("1 job; the next starts ")
    assert found.said.endswith(" UTC, and nobody sees to it at this moment")
    assert "hermes-kernel scheduler" in found.then


def test_a_job_that_is_overdue_and_that_nobody_sees_to_is_a_problem(settings):
    have(settings, ago=86_400 * 1.5)
    found = only(settings)
    assert found.state is State.PROBLEM
    assert "one was due" in found.said
    assert "hermes-kernel tick" in found.then


@pytest.mark.parametrize(("post", "who"), [(WATCH, "an open kernel"), (SCHEDULER, "a scheduler")])
def test_who_sees_to_the_jobs_is_named(settings, post, who):
    have(settings, ago=60)
    have(settings, ago=120)
    held = Post(settings.home, post)
    held.take()
    found = only(settings)
    held.leave()
    assert (found.state, found.then) == (State.OK, "")
    assert found.said.startswith("2 jobs; ")
    assert found.said.endswith(f"{who} (process {os.getpid()}) sees to it")


def test_jobs_of_other_homes_are_not_this_ones_to_see_to(settings):
    have(settings, ago=86_400 * 1.5, place="0123456789abcdef")
    assert list(planned(settings)) == []


def test_a_tick_that_failed_is_said_with_its_last_line_until_one_succeeds(settings):
    have(settings, ago=60)
    note_end(settings.home, 1, NOW, "cannot use the store (Permission denied)\x1b[2J")
    [_, failed] = planned(settings)
    assert failed.what == "ticks"
    assert "exit code 1" in failed.said
    assert "Permission denied" in failed.said
    assert "\x1b" not in failed.said
    note_end(settings.home, 0, NOW)
    assert only(settings).what == "jobs"


def test_a_store_that_cannot_be_had_is_a_line_among_the_others(settings):
    Agenda(settings.home).write(NOW)
    away = settings.with_(store_url="postgresql://127.0.0.1:9/none?connect_timeout=1")
    try:
        found = list(planned(away))
    except StoreError as error:
        pytest.fail(f"it was raised: {error}")
    assert all("\n" not in each.said for each in found)


def test_the_doctor_looks_at_jobs_among_the_rest(settings):
    have(settings, ago=60)
    found = examine(settings, {}, lambda: ())
    assert "jobs" in {each.what for each in found}
