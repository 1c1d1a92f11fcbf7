"""Random conversations whose process is killed: what was told is there, nothing ran twice, and it goes on. Five hundred
of them with ``python -m tests.campaign --turns 0``."""

from __future__ import annotations

import pytest

from tests.campaign.kills import play

SEEDS = ("gate.k0", "gate.k1", "gate.k2")  # three kinds of lives


@pytest.mark.parametrize("seed", SEEDS)
def test_a_conversation_that_was_killed_is_all_there_and_goes_on(seed: str) -> None:
    assert play(seed).counts
