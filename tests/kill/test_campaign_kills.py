"""Random conversations whose process is killed: what was told is there, nothing ran twice, and it goes on. Five hundred
of them with ``python -m tests.campaign --turns 0``."""

from __future__ import annotations

import pytest

from tests.campaign.kills import leave, play

SEEDS = ("gate.k0", "gate.k3", "gate.k10")  # two processes in a home, a conversation compressed, a home folded


@pytest.fixture(scope="module", autouse=True)
def _children():
    """Those that raise the lives."""
    yield
    leave()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_conversation_that_was_killed_is_all_there_and_goes_on(seed: str) -> None:
    assert play(seed).counts
