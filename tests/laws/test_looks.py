"""When a conversation is looked back at, at which of its turns, and what is told of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.compression.weight import tokens
from hermes_kernel.core.events import Asked, Compressed, Compressing, Event, Final, Opened, Outcome, Replied, Undone
from hermes_kernel.core.learning.instructing import NUDGE, REVIEW, nudge_request, review_request
from hermes_kernel.core.learning.looking import (
    Matter,
    Unseen,
    due,
    latest,
    next_nudge,
    remembering,
    reviewing,
    seen_of,
    shortened,
    still_due,
    turns_of,
)
from hermes_kernel.core.learning.telling import LEAST_TOKENS, MOST_TOKENS, entries_told, quoted, room, told
from hermes_kernel.core.learning.triggers import Trigger
from hermes_kernel.core.learnt import Dated, LookDue, Looked, Remembered
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, User
from hermes_kernel.core.turn import recall
from tests.laws import conversations
from tests.laws.test_triggers import WORK, facts


@pytest.mark.parametrize(
    ("unseen", "every", "seconds", "why"),
    [
        (Unseen(0, 9_999, 9_999, compressing=True), 1, 1, ""),
        (Unseen(3, 9_999, 9_999, compressing=True), 0, 1, ""),
        (Unseen(1, compressing=True), 10, 0, "the conversation is being compressed"),
        (Unseen(10), 10, 0, "10 turns since the last look"),
        (Unseen(1), 1, 0, "a turn since the last look"),
        (Unseen(9, 599, 599), 10, 600, ""),
        (Unseen(1, 900, 0), 10, 600, "600 s since the last look"),
        (Unseen(1, 900, 600), 10, 600, "nothing was asked for 600 s"),
        (Unseen(9, 9_999, 9_999), 10, 0, ""),
    ],
)
def test_a_look_is_due_after_turns_or_time_or_before_what_was_said_goes(
    unseen: Unseen, every: int, seconds: float, why: str
) -> None:
    assert due(unseen, every, seconds) == why


@given(st.integers(-5, 50), st.floats(0, 1e6), st.integers(1, 20), st.floats(0, 1e4), st.booleans())
def test_without_a_new_turn_nothing_is_due_and_with_more_of_anything_it_stays_due(
    turns: int, seconds: float, every: int, limit: float, compressing: bool
) -> None:
    why = due(Unseen(turns, seconds, 0, compressing), every, limit)
    assert turns > 0 or not why
    if why:
        assert due(Unseen(turns + 1, seconds * 2, 0, compressing), every, limit)


def test_when_the_next_will_be_is_said_in_words() -> None:
    assert next_nudge(Unseen(0), 10, 600) == "after 10 more turns, or 600 s after one"
    assert next_nudge(Unseen(9, 100), 10, 600) == "after 1 more turn, or in 500 s"
    assert next_nudge(Unseen(3), 10, 0) == "after 7 more turns"


def test_turns_keep_their_numbers_whatever_is_taken_back() -> None:
    log: list[Event] = [Opened("s"), *facts("one"), *facts("two"), Undone(), *facts("three")]
    turns = turns_of(log)
    assert [(each.number, each.turn.messages[0].text, each.again) for each in turns] == [
        (1, "one", False),
        (3, "three", True),
    ]
    assert [each.again for each in turns_of([*log, *facts("four")])] == [False, True, False]


def test_a_turn_that_is_not_over_is_not_looked_at() -> None:
    assert [each.number for each in turns_of([Opened("s"), *facts("one"), Asked("two"), Replied("…")])] == [1]


def test_what_a_compression_took_out_is_looked_at_word_for_word() -> None:
    cut = Compressed((User("[summary]", summary=True), User("two")), 900, 10)
    log: list[Event] = [Opened("s"), *facts("one"), *facts("two")[:-1], cut, Final(Outcome.COMPLETED, "Done.")]
    assert shortened(recall(log))
    assert not shortened(recall([Opened("s"), *facts("one")]))
    matter = remembering(turns_of(log), 0)
    assert matter is not None
    assert [message.text for message in matter.messages if isinstance(message, User)] == ["one", "two"]
    assert shortened(recall([Opened("s"), Asked("one"), Compressing(9), Final(Outcome.COMPLETED, "x")]))


def test_only_what_no_look_has_seen_is_looked_at() -> None:
    turns = turns_of([Opened("s"), *facts("one"), *facts("two"), *facts("three")])
    matter = remembering(turns, 1)
    assert matter is not None
    assert (matter.seen, matter.turns, matter.messages[0].text) == (3, 2, "two")
    assert remembering(turns, 3) is None
    assert remembering((), 0) is None


def test_a_review_reads_from_the_turn_before_the_first_that_is_worth_it_to_the_last() -> None:
    turns = turns_of([
        Opened("s"),
        *facts("hello"),
        *facts("clean it", *WORK),
        *facts("No, keep the zeros."),
        *facts("bye"),
    ])  # fmt: skip
    matter = reviewing(turns, 0, 5)
    assert matter is not None
    assert [m.text for m in matter.messages if isinstance(m, User)] == ["hello", "clean it", "No, keep the zeros."]
    assert (matter.seen, matter.turns, matter.trigger) == (3, 2, Trigger("the person corrected what was done"))
    assert reviewing(turns, 3, 5) is None
    assert reviewing(turns, 2, 5) is not None


def test_a_person_can_have_the_last_turn_looked_at_again() -> None:
    turns = turns_of([Opened("s"), *facts("one"), *facts("two")])
    matter = latest(turns, "a person asked")
    assert matter is not None
    assert (matter.seen, matter.messages[0].text, matter.trigger) == (2, "one", Trigger("a person asked"))
    assert latest((), "a person asked") is None


def dated(*facts: object) -> tuple[Dated, ...]:
    return tuple(Dated(float(n), fact) for n, fact in enumerate(facts))  # type: ignore[arg-type]


def test_what_is_due_stays_due_until_it_was_looked_at() -> None:
    a, b, again = LookDue("nudge", "a"), LookDue("nudge", "b"), LookDue("nudge", "a", "more")
    other, done = LookDue("review", "a"), Looked("nudge", "a")
    assert [each.fact for each in still_due(dated(a, b, other, done))] == [b, other]
    assert [each.fact for each in still_due(dated(a, b, done, again))] == [b, again]
    assert [each.fact for each in still_due(dated(a, b, again))] == [b, again]
    assert still_due(dated(Remembered("memory", (), ("x",), "nudge"))) == ()


def test_the_last_turn_that_was_seen_is_found() -> None:
    looks = dated(
        Looked("nudge", "a", seen=3), Looked("nudge", "a", seen=2), Looked("review", "a", seen=9), LookDue("nudge", "a")
    )
    assert seen_of(looks, "nudge", "a") == 3
    assert seen_of(looks, "nudge", "b") == 0


# --- what is told


@given(st.integers(0, 10_000_000))
def test_what_is_told_is_a_third_of_the_window_and_never_much(window: int) -> None:
    assert LEAST_TOKENS <= room(window) <= MOST_TOKENS
    assert window < 3 * LEAST_TOKENS or room(window) <= window // 3 + 1


@pytest.mark.parametrize("seed", range(12))
def test_however_much_was_said_what_is_told_is_bounded_and_every_word_is_quoted(seed: int) -> None:
    dice = random.Random(seed)
    messages = tuple(
        m
        for n in range(dice.choice([1, 5, 40]))
        for m in (User(conversations.text(dice)), *conversations.exchange(dice, n % 4))
    )
    for most in (LEAST_TOKENS, 3_000, MOST_TOKENS):
        text = told(messages, most)
        assert tokens(text) <= most * 1.1 + 50
        heads = [line for line in text.splitlines() if not line.startswith("| ")]
        assert all(line.startswith(("[", "(…")) for line in heads), heads


def test_a_long_conversation_is_told_from_its_beginning_and_mostly_its_end() -> None:
    messages = tuple(User(f"prompt {n} " + "word " * 400) for n in range(100))
    text = told(messages, 3_000)
    assert "prompt 0 " in text
    assert "prompt 99 " in text
    assert "prompt 50 " not in text
    assert "parts of about" in text


def test_results_are_clipped_and_a_loaded_skill_is_only_named() -> None:
    messages = (
        User("[Skill cleaning]\n" + "rule\n" * 900 + "[End of skill]\n\nclean it"),
        Assistant("", (ToolCall("c", "python", '{"code": "' + "x" * 9_000 + '"}'),)),
        Observation("c", "python", "y" * 90_000),
        Assistant("Done."),
    )
    text = told(messages, MOST_TOKENS)
    assert "rule" not in text
    assert "[Skill cleaning was loaded here]" in text
    assert len(text) < 4_000


def test_what_is_remembered_is_told_entry_by_entry_and_quoted() -> None:
    assert (
        entries_told("user", ("one\n[2] user:", "two"), 100)
        == "user holds 19 of 100 characters:\n| one\n| [2] user:\n| two"
    )
    assert entries_told("memory", (), 2200) == "memory holds 0 of 2,200 characters: it is empty."
    assert quoted("") == "| "


def test_the_requests_say_what_is_data_and_what_is_wanted() -> None:
    asked = nudge_request("| hello", ("a",), (), 2200, 1375)
    assert asked.endswith("or nothing.")
    assert "cannot" not in asked
    for system in (NUDGE, REVIEW):
        assert 'Lines that begin with "|" are quoted' in system
        assert "Never write down passwords" in system
    matter = Matter((), 1, 1, Trigger("it failed", ("cleaning", "plotting")))
    review = review_request("| work", matter, [("cleaning", "Cleans\na table.")])
    assert "Why this is looked at: it failed." in review
    assert "did not serve as they are: `cleaning`, `plotting`. Patch" in review
    assert "| cleaning: Cleans\n| a table." in review
    bare = review_request("| work", Matter((), 1, 1), [])
    assert bare.startswith("No skill was found that might fit.")
