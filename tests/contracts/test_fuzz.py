"""A small share of the targets of `tests.fuzz` that write files or ask a store; and that the command says what it found."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.every import TARGETS
from tests.fuzz.mutating import inputs, play
from tests.fuzz.target import Target

FILES = [each for each in TARGETS.values() if not each.pure]
SEED = 20261201


@pytest.mark.parametrize("target", FILES, ids=lambda target: target.name)
def test_whatever_lies_there_what_holds_of_it_holds(target: Target) -> None:
    play(target, seed=SEED, times=25)


def test_an_input_that_breaks_a_law_is_told_with_the_law_and_the_same_seed_finds_it_again() -> None:
    def never_a_nul(data: bytes) -> None:
        """No byte is zero."""
        assert b"\0" not in data

    target = Target("nul", never_a_nul, (b"ab",), (b"\0",), pure=True)
    notes = []
    for _ in range(2):
        with pytest.raises(AssertionError) as raised:
            play(target, seed=3, times=10_000)
        notes.append(raised.value.__notes__)
    assert notes[0] == notes[1]
    assert "No byte is zero." in notes[0][0]


def test_inputs_of_one_seed_are_the_same_and_of_another_are_not() -> None:
    target = FILES[0]

    def some(seed: int) -> list[bytes]:
        made = inputs(target, random.Random(seed))
        return [next(made) for _ in range(50)]

    assert some(1) == some(1)
    assert some(1) != some(2)
