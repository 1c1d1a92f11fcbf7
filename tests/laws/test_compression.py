"""What a summary may stand for, and how it takes its place: nothing a person needs is lost, broken or told twice."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.compression import (
    Keep,
    Plan,
    groups,
    planned,
    size,
    sound,
    spliced,
    stands_for,
    summary_message,
    summary_text,
)
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, Transcript, User
from tests.laws.conversations import conversation, conversations, exchange, last_prompt, summaries

keeps = st.builds(Keep, st.integers(0, 6), st.integers(0, 30), st.sampled_from([0, 500, 3_000, 50_000]))
CALL = ToolCall("1", "probe", "{}")
ANSWER = Observation("1", "probe", "ok")


def plan_of(transcript: Transcript, keep: Keep) -> Plan:
    plan = planned(transcript, keep)
    assert plan is not None
    return plan


def talk(turns: int, characters: int = 400) -> Transcript:
    """Questions and answers, each with its number."""
    return tuple(
        message
        for n in range(turns)
        for message in (User(f"question {n} " + "q" * characters), Assistant(f"answer {n} " + "a" * characters))
    )


@settings(max_examples=100, deadline=None)
@given(conversations())
def test_the_conversations_of_these_laws_are_sound(transcript: Transcript) -> None:
    assert sound(transcript) == ""
    assert tuple(message for group in groups(transcript) for message in group) == transcript


@settings(max_examples=150, deadline=None)
@given(conversations(), keeps)
def test_a_plan_keeps_whole_groups_at_both_ends_and_never_takes_the_last_prompt(
    transcript: Transcript, keep: Keep
) -> None:
    plan = planned(transcript, keep)
    if plan is None:
        return
    edges = {0}
    for group in groups(transcript):
        edges.add(max(edges) + len(group))
    assert {plan.head, plan.tail} <= edges
    assert 0 <= plan.head <= min(keep.first, plan.tail)
    assert size(transcript[: plan.head]) <= max(keep.tokens // 2, 0)
    assert not any(message is last_prompt(transcript) for message in plan.taken(transcript))
    assert summaries((*transcript[: plan.head], *transcript[plan.tail :])) == []


@settings(max_examples=150, deadline=None)
@given(conversations(), keeps)
def test_the_last_messages_stay_unless_they_are_too_heavy_and_the_last_group_always(
    transcript: Transcript, keep: Keep
) -> None:
    plan = planned(transcript, keep)
    if plan is None:
        return
    after = transcript[plan.tail :]
    newest = list(groups(transcript))[-1]
    floor = max((n + 1 for n, m in enumerate(transcript) if isinstance(m, User) and m.summary), default=0)
    assert after[-len(newest) :] == newest or plan.tail == floor == len(transcript)
    if len(after) < keep.last and plan.tail > floor:
        cut = list(groups(transcript[: plan.tail]))[-1]
        assert size((*cut, *after)) >= keep.tokens - len(after)
    if len(after) > len(newest):
        assert size(after) <= keep.tokens + len(after)
        assert len(after) - len(next(groups(after))) < keep.last


@settings(max_examples=150, deadline=None)
@given(conversations(), keeps, st.integers(0, 9))
def test_a_splice_is_sound_smaller_and_leaves_all_that_stays_byte_for_byte(
    transcript: Transcript, keep: Keep, seed: int
) -> None:
    plan = planned(transcript, keep)
    if plan is None:
        return
    more = conversation(random.Random(seed), ["user", "calls", "answer"])
    grown = (*transcript, *more)
    shorter = spliced(grown, transcript, plan, "## State now\n- All is well.")
    if shorter is None:
        assert size(plan.taken(transcript)) < 400
        return
    assert sound(shorter) == ""
    assert size(shorter) < size(grown)
    assert shorter[: plan.head] == transcript[: plan.head]
    rest = (*transcript[plan.tail :], *more)
    assert shorter[-len(rest) :] == rest
    assert len(summaries(shorter)) == 1
    prompt = last_prompt(transcript)
    assert prompt is None or any(message is prompt for message in shorter)
    summary = summaries(shorter)[0]
    assert summary_text(summary) == "## State now\n- All is well."
    assert stands_for(summary) == len(plan.taken(transcript)) + sum(map(stands_for, summaries(transcript)))


@settings(max_examples=100, deadline=None)
@given(conversations(), keeps)
def test_a_later_pass_updates_the_one_summary_there_is(transcript: Transcript, keep: Keep) -> None:
    plan = planned(transcript, keep)
    first = plan and spliced(transcript, transcript, plan, "## State now\n- As it was at first.")
    if not first:
        return
    grown = (*first, *talk(20))
    again = plan_of(grown, keep)
    assert again.previous == "## State now\n- As it was at first."
    assert not any(summary in again.taken(grown) for summary in summaries(grown))
    second = spliced(grown, grown, again, "## State now\n- As it is now.")
    assert second is not None
    assert sound(second) == ""
    assert [summary_text(summary) for summary in summaries(second)] == ["## State now\n- As it is now."]
    assert stands_for(summaries(second)[0]) > stands_for(summaries(first)[0])


def test_a_prompt_in_the_middle_of_a_long_turn_stays_behind_the_summary() -> None:
    dice = random.Random(1)
    work = tuple(message for _ in range(100) for message in exchange(dice, 1))
    transcript = (*talk(5), User("build it"), *work)
    plan = plan_of(transcript, Keep())
    assert transcript[plan.pinned or 0] == User("build it")
    shorter = spliced(transcript, transcript, plan, "what was done")
    assert shorter is not None
    at = shorter.index(User("build it"))
    assert shorter[at - 1] == summary_message("what was done", len(plan.taken(transcript)))
    assert shorter[at + 1 :] == transcript[plan.tail :]


def test_a_prompt_at_the_very_beginning_stays_there() -> None:
    work = tuple(message for _ in range(100) for message in exchange(random.Random(2), 1))
    plan = plan_of((User("build it"), *work), Keep(first=1))
    assert (plan.head, plan.prompt, plan.pinned) == (1, 0, None)


def test_calls_that_are_still_open_are_left_alone_and_their_results_find_their_place() -> None:
    both = Assistant("", (CALL, replace(CALL, id="2")))
    begun = (*talk(20), User("go"), both, ANSWER)
    plan = plan_of(begun, Keep(last=0))
    assert begun[plan.tail :] == (both, ANSWER)
    now = (*begun, replace(ANSWER, call_id="2"))
    shorter = spliced(now, begun, plan, "a summary")
    assert shorter is not None
    assert sound(shorter) == ""
    assert shorter[-3:] == now[-3:]


def test_a_conversation_that_went_another_way_takes_no_summary_of_the_old_one() -> None:
    begun = talk(40)
    plan = plan_of(begun, Keep())
    assert spliced(begun[: plan.tail - 1], begun, plan, "a summary") is None
    other = (*begun[:4], User("another question"), *begun[5:])
    assert spliced(other, begun, plan, "a summary") is None
    copied = tuple(replace(message) for message in begun)
    assert spliced(copied, begun, plan, "a summary") is not None


def test_a_summary_longer_than_what_it_stands_for_is_not_taken() -> None:
    begun = talk(16)
    assert spliced(begun, begun, plan_of(begun, Keep()), "words " * 5000) is None


def test_a_short_conversation_needs_no_summary() -> None:
    assert planned((), Keep()) is None
    assert planned(talk(11), Keep()) is None
    assert planned((*talk(1), summary_message("all before", 40), *talk(10)), Keep()) is None
    assert planned(talk(20, characters=1), Keep()) is None


def test_huge_last_messages_do_not_fill_the_window() -> None:
    transcript = talk(20, characters=40_000)
    plan = plan_of(transcript, Keep(tokens=25_000))
    assert transcript[plan.tail :] == transcript[-2:]
    assert plan.head == 1


def test_the_callers_own_scale_is_used() -> None:
    transcript = talk(30)
    assert plan_of(transcript, Keep(tokens=40)).tail == 59
    assert planned(transcript, Keep(tokens=40), len) is None
    heavy = planned(transcript, Keep(first=1, last=9, tokens=20), lambda messages: 10 * len(messages))
    assert heavy
    assert (heavy.head, heavy.tail) == (1, 58)


@pytest.mark.parametrize("left_out", [0, 1, 2, 1_234_567])
def test_a_summary_says_what_it_is_on_one_line_and_is_read_back(left_out: int) -> None:
    message = summary_message("first\nsecond", left_out)
    line = message.text.splitlines()[0]
    assert message.summary
    assert f"{left_out:,} earlier message" in line
    assert "session_search" in line
    assert "not an instruction" in line
    assert (summary_text(message), stands_for(message)) == ("first\nsecond", left_out)


@example("[Summary of 7 earlier messages, or so it says]")
@given(st.text())
def test_any_text_can_be_a_summary(text: str) -> None:
    message = summary_message(text, 3)
    assert stands_for(message) == 3
    assert summary_text(message) == text.lstrip("\n")
    assert stands_for(User("a summary of another make", summary=True)) == 0
    assert summary_text(User("a summary of another make", summary=True)) == "a summary of another make"


@pytest.mark.parametrize(
    ("transcript", "flaw"),
    [
        ((Assistant("", (CALL,)),), "message 0: calls [('1', 'probe')] have results []"),
        ((ANSWER,), "message 0: a result without its call"),
        ((User("q"), ANSWER), "message 0: a result behind a user message"),
        ((Assistant("", (CALL,)), ANSWER, ANSWER), "message 0: calls"),
        ((Assistant("", (CALL,)), User("q"), ANSWER), "message 0: calls"),
        ((Assistant("", (CALL,)), replace(ANSWER, name="python")), "message 0: calls"),
        ((Assistant("", (CALL, replace(CALL, id="2"))), replace(ANSWER, call_id="2"), ANSWER), "message 0: calls"),
        ((User("q"), Assistant("", (CALL, CALL)), ANSWER, ANSWER), "message 1: one id for two calls"),
        ((User("q"), Assistant("a"), Assistant("b")), "message 2: two answers in a row"),
        ((User("q"), Assistant(""), User("q")), "message 1: an assistant message that says nothing"),
    ],
)
def test_each_broken_law_of_history_is_named(transcript: Transcript, flaw: str) -> None:
    assert sound(transcript).startswith(flaw)


def test_what_providers_take_is_sound() -> None:
    twice = (Assistant("", (CALL,)), ANSWER)
    assert sound(()) == ""
    assert sound((User("a"), User("b", (Image("image/png", "AA=="),)), *twice, *twice, Assistant("done"))) == ""
