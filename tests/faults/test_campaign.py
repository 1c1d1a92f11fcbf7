"""Random turns in long sessions, with every fault there is: the laws hold after each. Twenty thousand of them with
``python -m tests.campaign``; here those of a few seeds, and of each that has found something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.sessions import play

SEEDS = ("gate.0", "gate.1", "gate.2", "gate.3", "gate.4")  # the last is recorded and replayed
TURNS = 12
LINES = (Path(__file__).parents[1] / "campaign" / "seeds.txt").read_text().splitlines()
KEPT = [line.split()[0] for line in LINES if line and not line.startswith("#") and ".k" not in line.split()[0]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_laws_hold_in_a_session_of_random_turns(seed: str) -> None:
    assert play(seed, TURNS).turns


@pytest.mark.parametrize("seed", KEPT)
def test_the_laws_hold_where_they_did_not(seed: str) -> None:
    assert play(seed).turns
