"""What holds of a still clock and of counted ids, whoever uses them and how."""

from __future__ import annotations

import asyncio
import re
import time
from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.testing import FastClock
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.spec import START, CountedIds, Hurried, StillClock, apart, guard, meets, turn_begins

SECONDS = st.floats(0, 1e6, allow_nan=False)


def test_a_still_clock_begins_with_2026_and_does_not_go_on_by_itself():
    clock = StillClock()
    before = clock.now(), clock.elapsed(), clock.chance()
    time.sleep(0.01)
    assert (clock.now(), clock.elapsed(), clock.chance()) == before == (START, 0.0, 0.5)
    assert time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(START)) == "2026-01-01 00:00:00"


@given(st.integers(0, 50))
def test_each_turn_begins_a_second_after_the_one_before(turns: int):
    clock = StillClock()
    for _ in range(turns):
        turn_begins(clock)
    assert clock.now() == START + turns


async def test_a_still_clock_really_waits_and_then_that_time_has_passed():
    clock, began = StillClock(), time.monotonic()
    await clock.sleep(0.05)
    assert time.monotonic() - began >= 0.05
    assert clock.elapsed() == 0.05


async def test_of_waits_at_once_the_longest_counts_and_one_that_was_given_up_does_not():
    clock = StillClock()
    given_up = asyncio.ensure_future(clock.sleep(60))
    await asyncio.gather(*(clock.sleep(seconds) for seconds in (0.01, 0.03, 0.02)))
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    assert clock.elapsed() == 0.03


@given(st.lists(SECONDS, max_size=10))
def test_hurried_waits_pass_at_once_and_all_of_their_time_has_passed(waits: list[float]):
    async def wait(clock: Hurried) -> None:
        for seconds in waits:
            await clock.sleep(seconds)

    still = StillClock()
    hurried = Hurried(still)
    began = time.monotonic()
    asyncio.run(wait(hurried))
    assert time.monotonic() - began < 5
    assert hurried.elapsed() == still.elapsed() == pytest.approx(sum(waits))
    assert hurried.now() == still.now()


@given(st.lists(SECONDS, max_size=10))
def test_a_hurried_clock_of_this_machine_has_skipped_what_was_waited_for(waits: list[float]):
    async def wait(clock: Hurried) -> None:
        for seconds in waits:
            await clock.sleep(seconds)

    before = time.time()
    hurried = Hurried(SystemClock())
    asyncio.run(wait(hurried))
    assert before + sum(waits) * 0.999_999 <= hurried.now() <= time.time() + sum(waits) * 1.000_001 + 0.001


@given(st.lists(SECONDS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_those_who_work_side_by_side_have_each_a_time_of_their_own_in_whatever_order_they_wait(
    waits: list[float], random: Any
):
    """Until one is met: then it is as late as the latest that was."""
    clock = StillClock()
    hurried = Hurried(clock)

    async def work(seconds: float) -> float:
        apart(clock)
        for _ in range(random.randrange(4)):
            await asyncio.sleep(0)
        await hurried.sleep(seconds)
        return clock.elapsed()

    async def all_of_them() -> list[float]:
        return await asyncio.gather(*map(work, waits))

    assert asyncio.run(all_of_them()) == waits
    assert clock.elapsed() == 0
    for at, seconds in enumerate(waits, 1):
        meets(clock, seconds)
        assert clock.elapsed() == max(waits[:at])


def test_the_time_of_one_who_works_apart_goes_on_from_where_it_began():
    clock = StillClock()
    turn_begins(clock)

    def work() -> tuple[float, float]:
        apart(clock)
        before = clock.elapsed()
        turn_begins(clock)
        return before, clock.elapsed()

    assert copy_context().run(work) == (1, 2)
    assert clock.elapsed() == 1


async def test_guards_count_real_time_and_do_not_move_what_is_told():
    for clock in (StillClock(), Hurried(StillClock()), Hurried(SystemClock())):
        began, before = time.monotonic(), clock.now()
        await guard(clock)(0.03)
        assert time.monotonic() - began >= 0.03
        assert clock.now() - before < 0.5 if isinstance(clock, Hurried) else clock.now() == before


async def test_other_clocks_guard_as_they_wait():
    clock, began = FastClock(), time.monotonic()
    await guard(clock)(60)
    assert time.monotonic() - began < 5
    turn_begins(clock)
    meets(clock, 1e9)
    apart(clock)
    assert clock.elapsed() < 70


@given(st.integers(1, 300), st.integers(0, 5))
def test_counted_ids_are_the_same_each_time_all_different_and_in_order(many: int, series: int):
    ids, again = CountedIds(lambda _: False, series), CountedIds(lambda _: False, series)
    made = [ids() for _ in range(many)]
    assert made == [again() for _ in range(many)]
    assert made == sorted(set(made))
    assert len({each[:4] for each in made}) == many
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in made)


@given(st.sets(st.integers(0, 60)), st.integers(1, 30))
def test_ids_that_are_taken_are_passed_over(taken: set[int], many: int):
    counted = CountedIds(lambda _: False)
    known = [counted() for _ in range(100)]
    there = {known[at] for at in taken}
    ids = CountedIds(there.__contains__)
    assert [ids() for _ in range(many)] == [each for each in known if each not in there][:many]


def test_two_series_have_no_id_in_common():
    one, other = CountedIds(lambda _: False, 0), CountedIds(lambda _: False, 1)
    assert not {one() for _ in range(1000)} & {other() for _ in range(1000)}


def test_the_ids_after_the_first_65536_are_well_formed_too():
    ids = CountedIds(lambda _: False)
    ids._count = 0xFFFF
    assert re.fullmatch("10000[0-9a-f]{27}", ids())
