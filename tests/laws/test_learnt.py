"""What was learnt is told from what was said."""

from __future__ import annotations

import pytest

from hermes_kernel.core.events import Asked, Event, LookDue, Looked, Remembered, SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.core.learnt import LEARNT, is_learnt
from hermes_kernel.core.turn import Turn, evolve

LESSONS: tuple[Event, ...] = (
    Remembered("memory", (), ("a",), "person"),
    SkillChanged("tidy", "create", "model"),
    SkillMarked("tidy", "pinned", "person"),
    SkillUsed("tidy"),
    LookDue("nudge", "s"),
    Looked("nudge", "s"),
)


def test_every_kind_is_here():
    assert {type(fact) for fact in LESSONS} == set(LEARNT)


@pytest.mark.parametrize("fact", LESSONS, ids=lambda fact: type(fact).__name__)
def test_no_lesson_changes_a_turn(fact: Event):
    turn = evolve(Turn(), Asked("q"))
    assert evolve(turn, fact) == turn
    assert is_learnt(fact)
    assert not is_learnt(Asked("q"))


def test_what_a_model_is_told_besides_is_no_part_of_what_the_person_said():
    turn = evolve(Turn(), Asked("the question", note="[a note]"))
    assert turn.transcript[0].text == "[a note]\n\nthe question"
    assert turn.events[0].text == "the question"  # type: ignore[union-attr]
