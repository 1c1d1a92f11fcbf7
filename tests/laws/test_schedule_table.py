"""What people write, and when it is due: 190 texts, each with its next five instants as literal data.

The data was written by an oracle that looks at a clock in every minute (`schedule_oracle`), and is held to it here again.
"""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from hermes_kernel.core.schedule.grammar import parse, stored, text
from hermes_kernel.core.schedule.instants import instants, upcoming
from hermes_kernel.core.schedule.saying import moment, sentence
from hermes_kernel.core.schedule.when import Timed
from tests.laws.schedule_cases import CASES, NIGHTS, Case, expected, line, of_oracle

EXPECTED = expected()


def titled(case: Case) -> str:
    return case.title


def read(case: Case) -> Timed:
    return parse(case.text, now=case.t, zone=case.home)


@pytest.mark.parametrize("case", CASES, ids=titled)
def test_a_text_is_due_when_its_reader_would_say(case: Case):
    timed = read(case)
    assert timed.zone == case.zone
    assert [line(t, case.zone) for t in upcoming(timed, now=case.t, count=5)] == EXPECTED[case.title]


@pytest.mark.parametrize("case", CASES, ids=titled)
def test_the_table_is_what_a_look_at_the_clock_in_every_minute_finds(case: Case):
    assert of_oracle(case) == EXPECTED[case.title]


def test_what_is_kept_of_a_text_means_the_same_to_whoever_reads_it_later():
    for case in CASES:
        timed = read(case)
        kept = text(timed.when)
        assert stored(kept, timed.zone) == parse(kept, now=case.t, zone=timed.zone) == timed


def test_each_instant_follows_from_the_one_before():
    """Who comes back at an instant, or a moment before one, finds what whoever stayed would have."""
    for case in CASES:
        timed = read(case)
        for before, after in pairwise(upcoming(timed, now=case.t, count=5)):
            assert next(instants(timed, since=case.t, after=before)) == after
            assert next(instants(timed, since=case.t, after=after - 0.25)) == after


def test_all_is_said_back_on_one_short_line():
    for case in CASES:
        timed = read(case)
        for said in (sentence(timed), *(moment(t, timed.zone) for t in upcoming(timed, now=case.t))):
            assert said.isprintable()
            assert len(said) < 120


def test_the_table_has_the_nights_of_three_zones_and_nothing_twice():
    assert len({case.title for case in CASES}) == len(CASES) == len(EXPECTED) >= 150
    assert len({zone for zone, _, _ in NIGHTS}) == 3


def test_the_next_instants_are_found_at_once():
    """After two years nobody walks through them."""
    timed = parse("every 1m", now=0, zone="UTC")
    later = 10**9
    assert list(islice(instants(timed, since=0, after=later), 2)) == [later + 20, later + 80]
