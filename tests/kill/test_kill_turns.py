"""A turn that is killed at any moment goes on where it stopped."""

from __future__ import annotations

import pytest

from hermes_kernel.world.store import Store
from tests.kill.turns import ground, one

TIMES = 12  # two hundred with `python -m tests.kill.turns 200`


@pytest.mark.slow
def test_a_killed_turn_is_finished_with_nothing_lost_and_nothing_run_twice(tmp_path):
    with ground(tmp_path / "home") as here:
        told = [one(here, seed) for seed in range(TIMES)]
    assert len(told) == TIMES
    Store(tmp_path / "home").fold()
    assert len(Store(tmp_path / "home").sessions(100)) >= TIMES
