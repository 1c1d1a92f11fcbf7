"""A power cut in the middle of appends and folds loses nothing that was acknowledged."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.kill.power import cut, disk, nurseries

TIMES = 5  # fifty with `python -m tests.kill.power 50`


@pytest.fixture
def at(tmp_path):
    """A disk whose power can be cut."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(disk(tmp_path))
        except OSError as error:
            pytest.skip(f"no power to cut here: {error}")
        yield made


def test_what_was_acknowledged_before_a_power_cut_is_all_there_after_it_and_nothing_is_there_twice(at):
    told = {}
    with nurseries() as children:
        tolls = [cut(at, children, seed, told) for seed in range(TIMES)]
    assert [toll.wrong for toll in tolls] == [[]] * TIMES
    assert tolls[-1].found >= tolls[-1].acknowledged > TIMES
