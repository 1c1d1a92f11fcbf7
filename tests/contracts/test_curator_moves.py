"""One move of the curator's plan, made by a person now: no sooner than it is due, and with the same grace after it."""

from __future__ import annotations

import asyncio

import pytest

from hermes_kernel.core.learning.curating import State
from hermes_kernel.core.learnt import SkillChanged, SkillMarked
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating.shelf import Shelf
from tests.contracts.curated import Tended


@pytest.fixture
def tended(tmp_path) -> Tended:
    made = Tended(tmp_path)
    made.made("plot", "chart")
    made.use("plot", "chart")
    made.clock.pass_days(40)
    return made


def move(tended: Tended, name: str):
    return next(each for each in tended.curator.plan().moves if each.name == name)


def test_it_is_made_alone_by_a_person_and_the_others_wait_for_the_next_run(tended):
    before = tended.curator.status().next
    assert tended.curator.move(move(tended, "plot")) == "The skill plot is stale."
    assert tended.states() == {"plot": State.STALE, "chart": State.ACTIVE}
    (fact,) = [each.fact for each in tended.chronicle.read(SkillMarked)]
    assert (fact.name, fact.mark, fact.by) == ("plot", "stale", "person")
    assert [each.name for each in tended.curator.plan().moves] == ["chart"]
    assert tended.curator.status().next == before


def test_what_became_stale_so_is_archived_only_after_the_same_grace(tended):
    tended.clock.pass_days(200)
    tended.curator.move(move(tended, "plot"))
    assert [each.name for each in tended.curator.plan().moves] == ["chart"]
    tended.clock.pass_days(8)
    assert tended.curator.move(move(tended, "plot")).startswith("Archived the skill plot.")
    assert tended.states()["plot"] is State.ARCHIVED
    (fact,) = [each.fact for each in tended.chronicle.read(SkillChanged) if each.fact.action == "archive"]
    assert fact.by == "person"


def test_one_that_was_stale_before_and_is_so_again_has_its_grace_anew(tended):
    asyncio.run(tended.curator.run(review=False))
    tended.use("plot")
    assert tended.curator.move(move(tended, "plot")) == "The skill plot is active again."
    tended.clock.pass_days(200)
    tended.curator.move(move(tended, "plot"))
    assert "plot" not in [each.name for each in tended.curator.plan().moves]


def test_what_is_not_due_any_more_is_not_made(tended):
    wanted = move(tended, "plot")
    tended.use("plot")
    with pytest.raises(HermesError, match="does not become stale any more"):
        tended.curator.move(wanted)
    tended.library.mark("chart", "pinned", "person")
    with pytest.raises(HermesError, match="does not become stale any more"):
        tended.curator.move(wanted)
    assert tended.states() == {"plot": State.ACTIVE, "chart": State.ACTIVE}


def test_nor_is_it_while_another_process_is_at_it(tended):
    with Shelf(tended.home).alone(), pytest.raises(HermesError, match="another process"):
        tended.curator.move(move(tended, "plot"))
