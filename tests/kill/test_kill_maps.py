"""A map that is killed in the middle is gone on with: an outcome for each row, and none paid twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kill.maps import campaign

ROWS = 120  # two thousand with `python -m tests.kill.maps 2000 7`


@pytest.mark.slow
def test_a_killed_map_goes_on_and_pays_for_no_row_twice(tmp_path: Path) -> None:
    figures = campaign(tmp_path, ROWS, seed=3)
    assert figures["requests"] >= ROWS
    assert sum(figures["outcomes"].values()) == ROWS
