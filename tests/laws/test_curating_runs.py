"""The record of a run and what a person reads of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.curating import Cause, Move, State
from hermes_kernel.core.learning.curating_report import HELD, diff, report
from hermes_kernel.core.learning.curating_runs import (
    DID,
    DONE,
    INTERRUPTED,
    PATCH,
    PROPOSED,
    UNDONE,
    Review,
    Run,
    Step,
    plain,
    step_of,
    understood,
    words,
)

T = 1_800_000_000.0
texts = st.text(max_size=20)
steps = st.builds(
    Step, st.sampled_from(["move", "patch"]), texts, texts, texts, texts, texts, texts, texts, texts,
    st.sampled_from([DID, UNDONE, PROPOSED]), texts, texts, texts,
)  # fmt: skip
reviews = st.builds(
    Review, st.lists(texts, max_size=2).map(tuple), texts, texts, texts, st.integers(0, 9), st.integers(0, 9),
    st.floats(0, 1), texts,
)  # fmt: skip
runs = st.builds(
    Run, texts, st.just(T), st.just(T), texts, st.sampled_from(["run", "rollback"]), texts, texts, st.just(T),
    st.integers(0, 9), st.lists(steps, max_size=4).map(tuple), st.lists(st.tuples(texts, texts), max_size=4).map(tuple),
    st.lists(reviews, max_size=3).map(tuple), texts, texts, texts,
)  # fmt: skip


def archived(name: str = "plot", **facts: str) -> Step:
    return Step("move", name, "stale", "archived", "forgotten", "unused", outcome=DID, **facts)


@given(runs)
def test_a_run_is_read_back_as_it_was_written(run):
    assert understood(json.loads(json.dumps(plain(run)))) == run


@given(
    st.recursive(
        st.none() | st.integers() | texts, lambda inner: st.dictionaries(texts, inner, max_size=3), max_leaves=8
    )
)
def test_what_is_no_record_of_a_run_is_refused(said):
    if isinstance(said, dict):
        with pytest.raises(ValueError, match="no record"):
            understood(said)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 7},
        {"steps": [{}]},
        {"steps": "x"},
        {"steps": 5},
        {"reviews": [{"skills": 1}]},
        {"held": [1]},
        {"status": None},
    ],
)
def test_a_damaged_record_is_refused(wrong):
    with pytest.raises(ValueError, match="no record"):
        understood({**plain(Run("a", T, T)), **wrong})


def test_what_a_later_version_adds_is_left_out():
    assert understood({**plain(Run("a", T, T)), "colour": "red"}) == Run("a", T, T)


def test_a_move_of_the_plan_becomes_a_step():
    move = Move("plot", State.STALE, State.ARCHIVED, Cause.FORGOTTEN, "unused", "bars")
    assert step_of(move) == Step("move", "plot", "stale", "archived", "forgotten", "unused", "bars")


def test_a_run_says_in_one_line_what_came_of_it():
    steps = (archived(), archived("b"), Step(PATCH, "c", outcome=DID), Step(PATCH, "d", outcome=PROPOSED),
             Step("move", "e", "active", "stale", outcome=DID), Step("move", "f", "active", "stale", outcome=UNDONE))  # fmt: skip
    run = Run("r", T, T, steps=steps)
    assert words(run) == "1 made stale, 2 archived, 1 patched, 1 waiting for consent"
    assert run.names == ("plot", "b", "c", "e")
    assert words(Run("r", T, T)) == "nothing to do"
    assert (
        words(Run("r", T, T, action="rollback", of="q", steps=(archived(),)))
        == "took back q: 1 skill put back as before"
    )


def test_the_report_says_what_was_done_why_and_how_it_is_taken_back():
    run = Run(
        "2027-01-15T08-00-00Z", T, T - 86400, status=DONE, asked="A model was asked 1 question.",
        steps=(archived(into="bars"), Step(PATCH, "c", outcome=UNDONE, why="wrong", said="it was pinned meanwhile")),
        reviews=(Review(("a", "b"), "keep", "fine", "s", 2, 90, 0.8), Review(("c",), trouble="no answer", calls=1, tokens=9)),
        held=(("mine", "made by a person"),),
    )  # fmt: skip
    page = report(run)
    assert "# Curator, 2027-01-15 08:00 UTC" in page
    assert "as of 2027-01-14" in page
    assert "`hermes-kernel curator rollback 2027-01-15T08-00-00Z`" in page
    assert "it was pinned meanwhile" in page
    assert "## 2 reviews (3 model calls, 99 tokens)" in page
    assert "a and b (80% alike): keep: fine" in page
    assert "c: no verdict: no answer" in page
    assert "- mine: made by a person" in page


def test_the_report_of_an_interrupted_run_and_of_a_rollback_say_so():
    assert "every skill is whole" in report(Run("r", T, T, status=INTERRUPTED, why="It was stopped."))
    page = report(
        Run("r", T, T, action="rollback", of="q", status=DONE, steps=(Step("move", "a", why="as before", outcome=DID),))
    )
    assert page.startswith("# Rollback")
    back = Run("r", T, T, action="rollback", of="2026-12-02T08-37-16Z")
    assert "\nTook back 2026-12-02T08-37-16Z: 0 skills put back as before. Status: " in report(back)
    many = Run("r", T, T, held=tuple((f"s{n}", "pinned") for n in range(HELD + 3)))
    assert "and 3 more" in report(many)


def test_a_plan_is_a_diff_of_moves_and_of_texts():
    patch = Step(PATCH, "c", why="wrong", diff="--- a\n+++ b\n-one\n+two")
    back = Step("move", "e", "archived", "active", why="restored")
    aging = Step("move", "f", "active", "stale", why="unused")
    lines = diff((archived(), patch, back, aging)).splitlines()
    assert lines == [
        "skills/plot → skills/.archive/plot    # unused".replace("    ", " "),
        "patch skills/c/SKILL.md # wrong", "--- a", "+++ b", "-one", "+two",
        "skills/.archive/e → skills/e # restored",
        "f: active → stale # unused",
    ]  # fmt: skip


@given(runs)
def test_nothing_that_a_skill_is_called_or_a_model_says_is_markup_in_the_report(run):
    page = report(run)
    fenced = False
    for line in page.splitlines():
        if line.lstrip("`") == "diff" or (fenced and set(line) == {"`"}):
            fenced = not fenced
        elif not fenced:
            assert "<" not in line.replace("<span>&#36;</span>", "")
    assert "\x1b" not in page


def test_a_text_with_fences_ends_no_block_of_the_report():
    hostile = "+```\n+</details><script>\n+`````"
    page = report(Run("r", T, T, status=DONE, steps=(Step(PATCH, "c", outcome=DID, diff=hostile),)))
    fence = next(line for line in page.splitlines() if line.endswith("diff")).removesuffix("diff")
    assert fence not in hostile
    assert page.count(f"\n{fence}\n") == 1


def test_a_step_takes_the_place_of_the_one_that_was_planned():
    run = Run("r", T, T, steps=(archived("a"), archived("b"), archived("c")))
    done = run.with_step(1, Step(PATCH, "z"))
    assert [step.name for step in done.steps] == ["a", "z", "c"]
