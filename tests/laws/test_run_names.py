"""The short name of a run means that run, and so does every beginning of its id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.schedule.due import asked_id, run_id
from hermes_kernel.core.schedule.run_names import LEAST, means, short

NOON = 1_796_126_400.0
JOBS = st.text("0123456789abcdef", min_size=32, max_size=32)
DUES = st.integers(0, 4_000_000_000).map(float)
CHANCE = st.text("0123456789abcdef", min_size=4, max_size=4)
RUNS = st.one_of(st.builds(run_id, JOBS, DUES), st.builds(asked_id, JOBS, DUES, CHANCE))


@given(RUNS)
def test_a_short_name_and_every_beginning_mean_the_run(run):
    assert len(short(run)) <= 19
    assert all(means(name[:n], run) for name in (run, short(run)) for n in range(LEAST, len(name) + 1))
    assert not means(run[: LEAST - 1], run)
    assert not means("", run)


@given(JOBS, DUES, DUES, CHANCE)
def test_runs_of_one_job_in_one_year_have_names_of_their_own(job, one, other, chance):
    names = {short(run_id(job, one)), short(run_id(job, other)), short(asked_id(job, one, chance))}
    year = 365 * 86_400
    assert len(names) == (2 if one == other else 3) or abs(one - other) >= year


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (run_id("abcdef0123", NOON), "abcd-1201T1200"),
        (run_id("abcdef0123", NOON + 7), "abcd-1201T120007"),
        (asked_id("abcdef0123", NOON + 7, "1a2b"), "abcd-1201T1200-1a2b"),
        ("it-1", "it-1"),
        ("", ""),
        ("<img src=x>-20261201T120000Z", "<img src=x>-20261201T120000Z"),
    ],
)
def test_a_short_name_says_the_day_and_the_minute(run, name):
    assert short(run) == name
