"""Writers and folders that are killed at any moment lose nothing that was acknowledged."""

from __future__ import annotations

from tests.kill.journals import CHILD, kill
from tests.kill.nursery import nursery

TIMES = 30  # two hundred with `python -m tests.kill.journals 200`


def test_what_killed_writers_acknowledged_is_all_there_and_nothing_is_there_twice(tmp_path):
    with nursery(CHILD) as children:
        toll = kill(tmp_path / "home", children, TIMES, 0)
    assert toll.wrong == []
    assert toll.damaged == 0
    assert toll.found >= toll.acknowledged > TIMES
