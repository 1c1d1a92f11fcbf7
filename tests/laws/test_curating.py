"""The life of a skill: a literal table, and plans that never leave it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.curating import (
    DAY,
    TABLE,
    YOUNG_DAYS,
    Ages,
    Cause,
    Illegal,
    Life,
    Move,
    State,
    due,
    moved,
    plan,
)
from hermes_kernel.core.learning.curating_lives import Record, joined, records
from hermes_kernel.core.learnt import Dated, LookDue, SkillChanged, SkillMarked, SkillUsed

NOW = 2_000_000_000.0
AGES = Ages()

days = st.floats(0, 400, allow_nan=False)
lives = st.builds(
    Life,
    name=st.text("abcdef-", min_size=1, max_size=8),
    origin=st.sampled_from(["agent", "agent", "agent", "person", "bundled", "installed", ""]),
    state=st.sampled_from(State),
    born=days.map(lambda day: NOW - day * DAY),
    last=st.one_of(st.just(0.0), days.map(lambda day: NOW - day * DAY)),
    since=days.map(lambda day: NOW - day * DAY),
    views=st.integers(0, 3),
    uses=st.integers(0, 3),
    patches=st.integers(0, 3),
    pinned=st.booleans(),
    scheduled=st.booleans(),
)
many = st.lists(lives, max_size=30, unique_by=lambda life: life.name)
settings = st.builds(lambda a, b, grace: Ages(min(a, b), max(a, b), grace), days, days, days)


def old(idle: float, **facts: object) -> Life:
    """A skill that was used once, `idle` days ago."""
    return replace(Life("plot", born=NOW - 400 * DAY, last=NOW - idle * DAY, views=1), **facts)


def carried_out(life: Life, move: Move | None, now: float) -> Life:
    if move is None:
        return life
    return replace(life, state=move.after, since=now if move.after is State.STALE else 0.0)


# --- the table


@pytest.mark.parametrize(("state", "cause"), list(product(State, Cause)))
def test_what_is_absent_from_the_table_is_illegal(state, cause):
    if (state, cause) in TABLE:
        assert moved(state, cause) is TABLE[state, cause]
    else:
        with pytest.raises(Illegal, match=state.value):
            moved(state, cause)


def test_nothing_skips_a_state_but_by_a_verdict_and_only_a_person_brings_back():
    jumps = {cause for (state, cause), after in TABLE.items() if (state, after) == (State.ACTIVE, State.ARCHIVED)}
    assert jumps == {Cause.JUDGED}
    assert {cause for (state, cause) in TABLE if state is State.ARCHIVED} == {Cause.RESTORED}
    assert TABLE[State.ARCHIVED, Cause.RESTORED] is State.ACTIVE, "what is archived can come back"


def test_from_every_state_every_other_can_be_reached():
    for start in State:
        reached = {start}
        for _ in State:
            reached |= {after for (state, _), after in TABLE.items() if state in reached}
        assert reached == set(State)


def test_the_page_draws_the_table_as_it_is():
    page = (Path(__file__).parents[2] / "docs" / "curator.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^ +(\w+) --> (\w+) : (.+)$", page, re.MULTILINE))
    assert drawn == {(state.value, after.value, cause.value) for (state, cause), after in TABLE.items()}


# --- by age


@pytest.mark.parametrize(
    ("life", "after"),
    [
        (old(29.9), None),
        (old(30), State.STALE),
        (old(300), State.STALE),
        (old(89.9, state=State.STALE, since=NOW - 50 * DAY), None),
        (old(90, state=State.STALE, since=NOW - 50 * DAY), State.ARCHIVED),
        (old(90, state=State.STALE, since=NOW - 6 * DAY), None),
        (old(1, state=State.STALE, since=NOW - 6 * DAY), State.ACTIVE),
        (old(400, state=State.ARCHIVED), None),
    ],
)
def test_a_skill_goes_stale_after_30_days_and_to_the_archive_after_90_when_that_was_seen_coming(life, after):
    move = due(life, NOW, AGES)
    assert (move.after if move else None) is after


def test_one_that_was_never_used_is_left_alone_for_30_days_however_short_the_settings_are():
    short = Ages(stale_days=1, archive_days=2, grace_days=0)
    young = Life("plot", born=NOW - (YOUNG_DAYS - 0.1) * DAY)
    assert due(young, NOW, short) is None
    assert due(replace(young, views=1), NOW, short) is not None
    move = due(replace(young, born=NOW - YOUNG_DAYS * DAY), NOW, short)
    assert move is not None
    assert move.why == "never used in the 30 days since it was made"


def test_a_move_says_why():
    assert due(old(31.5), NOW, AGES).why == "last used or changed 31 days ago"
    brought_back = Life("plot", born=NOW - DAY, views=1)
    assert (
        due(replace(brought_back, origin="agent", state=State.STALE), NOW, AGES).why == "made or brought back 1 day ago"
    )


def test_a_clock_that_went_back_makes_nothing_old():
    assert due(Life("plot", born=NOW + 100 * DAY, views=1), NOW, AGES) is None


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"origin": "person"}, "made by a person"),
        ({"origin": "bundled"}, "comes with the program"),
        ({"origin": "installed"}, "installed by a person"),
        ({"origin": "?"}, "not made by an agent"),
        ({"pinned": True}, "pinned"),
        ({"scheduled": True}, "named by a schedule"),
    ],
)
def test_what_is_not_the_agents_or_is_wanted_never_moves_and_the_plan_says_why(facts, why):
    made = plan([old(1000, **facts)], NOW, AGES)
    assert made.moves == ()
    assert made.held == (("plot", why),)


@given(many, settings)
def test_a_plan_makes_legal_moves_of_free_skills_only_one_each_in_the_order_of_names(known, ages):
    made = plan(known, NOW, ages)
    by_name = {life.name: life for life in known}
    names = [move.name for move in made.moves]
    assert names == sorted(set(names))
    for move in made.moves:
        life = by_name[move.name]
        assert not life.held
        assert life.state is move.before
        assert TABLE[move.before, move.cause] is move.after
        assert move.cause not in {Cause.JUDGED, Cause.RESTORED}
        assert move.why
    assert {name for name, _ in made.held} == {life.name for life in known if life.held}


@given(many, st.builds(Ages, days, st.just(400.0), st.floats(0.01, 400)))
def test_a_plan_that_was_carried_out_is_empty_at_the_same_time(known, ages):
    moves = {move.name: move for move in plan(known, NOW, ages).moves}
    after = [carried_out(life, moves.get(life.name), NOW) for life in known]
    assert plan(after, NOW, ages).moves == ()


@given(lives, st.lists(st.tuples(st.integers(1, 20), st.booleans()), max_size=60))
def test_through_any_weeks_a_used_skill_comes_back_and_an_archived_one_stays(life, weeks):
    life, now = replace(life, origin="agent", pinned=False, scheduled=False), NOW
    for passed, used in weeks:
        now += passed * DAY
        if used and life.state is not State.ARCHIVED:
            life = replace(life, last=now, views=life.views + 1)
        move = due(life, now, AGES)
        after = carried_out(life, move, now)
        assert life.state is not State.ARCHIVED or after.state is State.ARCHIVED
        if used and life.state is not State.ARCHIVED:
            assert after.state is State.ACTIVE
        life = after


# --- what is known of a skill


def happened(*facts: object) -> dict[str, Record]:
    return dict(records(Dated(float(t), fact) for t, fact in enumerate(facts, 1)))


def test_counts_and_the_last_use_are_folded_from_what_was_kept():
    known = happened(
        SkillChanged("plot", "create", "model"),
        SkillUsed("plot", "view"),
        SkillUsed("plot", "use", by="person"),
        SkillChanged("plot", "patch", "review"),
        SkillMarked("plot", "stale", "curator"),
        LookDue("nudge", "a"),
        SkillUsed("clean", "view"),
    )
    assert known["plot"] == Record(born=1, last=4, since=5, views=1, uses=1, patches=1, told=4)
    assert known["clean"] == Record(last=7, views=1)
    assert known.keys() == {"plot", "clean"}


def test_what_the_slow_loops_read_and_the_curator_changes_is_nobodys_use():
    known = happened(
        SkillChanged("plot", "create", "review"),
        SkillUsed("plot", by="curator"),
        SkillUsed("plot", by="review"),
        SkillChanged("plot", "patch", "curator"),
        SkillChanged("plot", "archive", "curator"),
        SkillMarked("plot", "pinned", "person"),
    )
    assert known["plot"] == Record(born=1, told=5)


def test_one_that_a_person_brings_back_is_counted_anew_without_having_been_used():
    known = happened(
        SkillChanged("plot", "create", "model"),
        SkillMarked("plot", "stale", "curator"),
        SkillChanged("plot", "archive", "curator"),
        SkillChanged("plot", "restore", "person"),
        SkillMarked("plot", "active", "person"),
    )
    assert known["plot"] == Record(born=1, last=4, told=4)


def test_a_new_skill_under_an_old_name_begins_a_life_of_its_own():
    known = happened(
        SkillChanged("plot", "create", "model"), SkillUsed("plot"), SkillChanged("plot", "create", "model")
    )
    assert known["plot"] == Record(born=3, told=3)


def test_two_witnesses_of_one_skill_are_believed_where_each_knows_more():
    one, other = Record(born=5, last=9, views=2), Record(born=3, since=4, uses=1, patches=7, told=8)
    assert joined(one, other) == Record(born=3, last=9, since=4, views=2, uses=1, patches=7, told=8)
    assert joined(Record(), Record(born=2)) == Record(born=2)
    assert joined(Record(), Record()) == Record()
