"""Counts and times read alike everywhere."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.figures import counted, minute, span


@pytest.mark.parametrize(("count", "said"), [(0, "0 calls"), (1, "1 call"), (2, "2 calls"), (12_345, "12,345 calls")])
def test_one_is_one_and_all_else_is_many(count: int, said: str):
    assert counted(count, "call") == said


def test_a_time_is_a_date_and_a_minute_of_one_clock():
    assert minute(1_796_000_000.9) == "2026-11-30 00:53 UTC"


@given(st.floats() | st.sampled_from([math.inf, -math.inf, math.nan, 1e18]))
def test_a_time_that_no_calendar_has_is_said_to_be_unknown(t: float):
    assert minute(t).endswith((" UTC", "at an unknown time"))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (-5, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (11_400, "3 h 10 min"),
        (90_061, "1 d 1 h"),
    ],
)
def test_a_length_of_time_is_said_in_its_two_largest_units(seconds: float, words: str):
    assert span(seconds) == words
