"""A small share of `tests.fuzz`, always the same: each target that touches no file, with what hypothesis puts together and
with what our own loop makes of its corpus."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.every import TARGETS
from tests.fuzz.mutating import HARD, play
from tests.fuzz.target import Target

PURE = [each for each in TARGETS.values() if each.pure]
SEED = 20261201


def inputs(target: Target) -> st.SearchStrategy[bytes]:
    """Pieces of its language, and bytes of none."""
    piece = st.sampled_from([*target.seeds, *target.words, *HARD]) | st.binary(max_size=6) | st.just(b" ")
    return st.lists(piece, max_size=10).map(b"".join)


def held(target: Target, examples: int) -> None:
    """What holds, for so many inputs."""
    law = settings(
        max_examples=examples, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    law(given(inputs(target))(target.check))()


@pytest.mark.parametrize("target", PURE, ids=lambda target: target.name)
def test_whatever_comes_in_what_holds_of_it_holds(target: Target) -> None:
    held(target, 40)
    play(target, seed=SEED, times=150)


def test_every_target_says_in_a_sentence_what_holds_and_has_something_to_begin_with() -> None:
    for target in TARGETS.values():
        assert target.law.endswith(".")
        assert target.seeds
