"""Silence is counted in ticks: only what was listened to counts, whatever the clock did."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.trouble import Cause
from hermes_kernel.world.model.watch import LULL, LULLS, TICK_CAP, Lulls, Patience, Watch

law = settings(deadline=None)
PATIENCE = Patience(first_byte=180, stale=90, queued=600)


def silent(watch, seconds, step=0.1):
    """Ticks until a verdict, and how long that took."""
    passed = 0.0
    while passed < seconds and not watch.verdict():
        watch.tick(step, step)
        passed += step
    return passed


@pytest.mark.parametrize(("begun", "cause", "limit"), [(False, Cause.FIRST_BYTE, 180), (True, Cause.STALE, 90)])
def test_a_limit_is_passed_when_it_has_been_silent_for_so_long(begun, cause, limit):
    watch = Watch(PATIENCE)
    if begun:
        watch.heard(data=True)
    assert silent(watch, 1000) == pytest.approx(limit, abs=0.2)
    assert watch.verdict() is cause


def test_keep_alives_put_off_the_one_limit_but_not_the_other():
    watch = Watch(PATIENCE)
    passed = 0.0
    while not watch.verdict():
        watch.heard(data=False)
        watch.tick(0.1, 0.05)
        passed += 0.1
    assert watch.verdict() is Cause.QUEUED
    assert passed == pytest.approx(600, abs=1)
    assert watch.silence.kind == "queued"


def test_a_sleeping_laptop_or_a_blocked_loop_is_one_tick():
    watch = Watch(PATIENCE)
    watch.heard(data=True)
    watch.tick(8 * 3600, 8 * 3600)
    assert watch.verdict() is None
    assert watch.silence.seconds == TICK_CAP


@law
@given(st.lists(st.one_of(st.none(), st.booleans(), st.floats(0, 1e6)), max_size=60))
def test_no_more_silence_is_counted_than_there_were_ticks(story):
    watch = Watch(PATIENCE)
    ticks = 0
    for event in story:
        if isinstance(event, float):
            watch.tick(event, event)
            ticks += 1
        elif event is not None:
            watch.heard(data=event)
            ticks = 0 if event else ticks
        assert watch.silence.seconds <= ticks * TICK_CAP + 1e-9
        watch.news()


def test_silence_is_told_once_a_second():
    watch = Watch(PATIENCE)
    told = []
    for _ in range(55):
        watch.tick(0.1, 0.1)
        if news := watch.news():
            told.append(int(news.seconds + 0.01))
    assert told == [1, 2, 3, 4, 5]


def test_ticks_are_often_enough_for_the_shortest_limit():
    assert Patience(180, 90, 600).tick == 0.1
    assert Patience(180, 0.1, 600).tick == pytest.approx(0.025)


def test_what_was_not_listened_to_is_known_while_only_keep_alives_come():
    watch = Watch(PATIENCE)
    watch.tick(5, 5)
    assert watch.deaf == 0, "it had not begun"
    watch.heard(data=True)
    watch.tick(3, 3)
    watch.heard(data=False)
    watch.tick(TICK_CAP, TICK_CAP)
    assert watch.deaf == 3 - TICK_CAP
    watch.heard(data=True)
    assert watch.deaf == 0


@law
@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=60), st.floats(0, 1e3))
def test_the_longest_silences_are_kept_in_order_of_time(story, late):
    lulls = Lulls()
    for began, seconds in story:
        lulls.note(began, seconds)
    kept, worth = lulls.since(late), [seconds for _, seconds in story if seconds >= LULL]
    assert len(kept) == min(len(worth), LULLS)
    assert list(kept) == sorted(kept)
    assert all(began >= late - 0.1 for began, _ in kept)
    assert sorted(seconds for _, seconds in kept) == [round(each, 1) for each in sorted(worth)[-LULLS:]]
