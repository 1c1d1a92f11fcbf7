"""Replies that came whole and are still of no use as they are: cut, empty, malformed, misnumbered, ill-encoded."""

from __future__ import annotations

import asyncio
import json
from typing import get_args

import pytest

from hermes_kernel import Outcome, tool
from hermes_kernel.core.events import Observed, Replied, TextDelta, ThoughtDelta
from hermes_kernel.testing import (
    Asked,
    Thoughts,
    bad_arguments,
    call,
    calls,
    cut_call,
    cut_off,
    duplicate_call,
    empty,
    forever,
    say,
    thinking_only,
    torn,
    written_call,
)
from hermes_kernel.testing.wire import CallShape, ThoughtForm
from tests.faults.played import ANSWER, oks, play, price

SKUS = ["A1", "B2", "C3"]


# --- the output limit


async def test_an_answer_cut_at_the_output_limit_is_continued_without_a_seam(tmp_path) -> None:
    got = await play(tmp_path, [cut_off("It costs thr"), cut_off("ee euros, and ship"), say("ping is free.")])
    assert got.outcome is Outcome.COMPLETED
    assert got.text == ANSWER
    assert "".join(event.text for event in got.of(TextDelta)) == ANSWER
    assert len(got.requests) == 3
    _, second, third = got.requests
    assert [m["role"] for m in second.messages[-2:]] == ["assistant", "user"]
    assert second.messages[-2]["content"] == "It costs thr"
    assert third.messages[-2]["content"] == "It costs three euros, and ship"
    assert len(got.turn.messages) == 2


async def test_an_answer_is_continued_three_times_in_a_row_at_most(tmp_path) -> None:
    got = await play(tmp_path, [forever(cut_off("and on "))])
    assert got.outcome is Outcome.COMPLETED
    assert got.text == "and on " * 4
    assert len(got.requests) == 4
    assert got.turn.reason


async def test_continuations_cost_budget(tmp_path) -> None:
    got = await play(tmp_path, [forever(cut_off("and on "))], max_iterations=2)
    assert got.outcome is Outcome.BUDGET_EXHAUSTED
    assert got.text == "and on " * 2
    assert len(got.requests) == 2


@pytest.mark.parametrize("form", ["length", "tool_calls", "invalid_diff"])
async def test_a_cut_call_is_asked_for_again_with_more_room_and_never_run(tmp_path, form) -> None:
    script = [cut_call("price", {"sku": "A1"}, keep=8, form=form), call("price", {"sku": "A1"}), say(ANSWER)]
    got = await play(tmp_path, script)
    assert got.text == ANSWER
    assert got.results == ["A1: 3 EUR"]
    assert len(got.requests) == 3
    first, second, _ = got.requests
    assert limit(second.body) > limit(first.body)
    assert second.messages == first.messages


async def test_room_for_a_cut_call_only_grows_and_is_bounded(tmp_path) -> None:
    script = [forever(cut_call("price", {"sku": "A1"}, keep=8))]
    got = await play(tmp_path, script, max_tokens=1000, model_max_tokens=8000, max_iterations=7)
    rooms = [limit(request.body) for request in got.requests]
    assert rooms[:4] == [1000, 2000, 4000, 8000] or rooms[:3] == [1000, 4096, 8000]
    assert max(rooms) == 8000
    assert rooms == sorted(rooms)
    assert not any(oks(got))
    assert got.outcome is Outcome.BUDGET_EXHAUSTED


async def test_a_cut_call_without_more_room_is_answered_so_that_the_model_can_act(tmp_path) -> None:
    script = [cut_call("price", {"sku": "A1"}, keep=8), say("Then I say it in words.")]
    got = await play(tmp_path, script, max_tokens=500, model_max_tokens=500)
    assert got.text == "Then I say it in words."
    assert oks(got) == [False]
    assert "cut" in got.results[0]


async def test_thoughts_that_use_up_the_limit_get_more_room(tmp_path) -> None:
    got = await play(tmp_path, [thinking_only("hm " * 50, finish="length"), say(ANSWER)])
    assert got.text == ANSWER
    assert limit(got.requests[1].body) > limit(got.requests[0].body)


def limit(body) -> int:
    return body.get("max_tokens") or body.get("max_completion_tokens") or 0


# --- nothing


@pytest.mark.parametrize("nothing", [empty(), thinking_only("hm"), say("  \n")], ids=["empty", "thoughts", "blanks"])
async def test_an_empty_reply_is_asked_about_once_more(tmp_path, nothing) -> None:
    got = await play(tmp_path, [nothing, say(ANSWER)])
    assert got.outcome is Outcome.COMPLETED
    assert got.text.strip() == ANSWER
    assert len(got.requests) == 2


@pytest.mark.parametrize("nothing", [empty(), thinking_only("hm")], ids=["empty", "thoughts"])
async def test_a_model_that_says_nothing_ends_the_turn_as_empty_with_a_reason(tmp_path, nothing) -> None:
    got = await play(tmp_path, [forever(nothing)])
    assert got.outcome is Outcome.EMPTY
    assert got.text == ""
    assert "empty" in got.turn.reason
    assert len(got.requests) <= 4


async def test_a_model_that_says_nothing_hands_over_to_its_fallback(tmp_path) -> None:
    got = await play(
        tmp_path,
        lambda request: empty() if request.body["model"] == "scripted" else say(ANSWER),
        fallback_models=("b",),
    )
    assert got.text == ANSWER
    assert got.requests[-1].body["model"] == "b"


async def test_an_empty_reply_after_tools_is_not_an_answer(tmp_path) -> None:
    got = await play(tmp_path, [call("price", {"sku": "A1"}), empty(), say(ANSWER)])
    assert got.text == ANSWER
    assert got.results == ["A1: 3 EUR"]


# --- tool calls in every shape


@pytest.mark.parametrize("shape", get_args(CallShape))
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
async def test_calls_run_whatever_their_shape_and_finish_reason(tmp_path, shape, finish) -> None:
    wanted = [("price", {"sku": sku}) for sku in SKUS]
    got = await play(tmp_path, [calls(wanted, shape=shape, finish=finish), say(ANSWER)])
    assert got.text == ANSWER
    assert got.results == [f"{sku}: 3 EUR" for sku in SKUS]
    assert len(got.requests) == 2
    sent = got.requests[1].messages
    assert [m["content"] for m in sent if m["role"] == "tool"] == got.results


async def test_results_go_back_in_the_order_of_the_calls_whatever_finished_first(tmp_path) -> None:
    @tool
    async def slow(n: int) -> int:
        """Wait: the first one longest."""
        await asyncio.sleep(0.2 - n * 0.05)
        return n

    got = await play(tmp_path, [calls([("slow", {"n": n}) for n in range(4)]), say("Done.")], tools=[slow])
    assert [event.text for event in got.of(Observed)] == ["3", "2", "1", "0"]
    assert got.results == ["0", "1", "2", "3"]


async def test_the_same_call_twice_with_one_id_has_two_results(tmp_path) -> None:
    got = await play(tmp_path, [duplicate_call("price", {"sku": "A1"}), say(ANSWER)])
    assert got.text == ANSWER
    assert len(got.turn.tool_calls) == len(got.results)


async def test_ids_that_come_again_in_a_later_reply_do_no_harm(tmp_path) -> None:
    again = calls([Asked("price", '{"sku": "A1"}', "same")])
    got = await play(tmp_path, [again, again, say(ANSWER)])
    assert got.results == ["A1: 3 EUR"] * 2


async def test_a_signature_on_a_call_goes_back_with_it(tmp_path) -> None:
    extra = (("extra_content", {"google": {"thought_signature": "sig=="}}),)
    got = await play(tmp_path, [calls([Asked("price", '{"sku": "A1"}', "x1", extra)], shape="gemini"), say(ANSWER)])
    (sent,) = got.requests[1].messages[-2]["tool_calls"]
    assert sent["extra_content"] == {"google": {"thought_signature": "sig=="}}


@pytest.mark.parametrize(
    "form",
    ["<tool_call>\n{}\n</tool_call>", "[TOOL_CALLS] [{}]", "```json\n{}\n```"],
    ids=["hermes", "mistral", "json"],
)
async def test_a_call_written_as_text_is_understood(tmp_path, form) -> None:
    got = await play(tmp_path, [written_call("price", {"sku": "A1"}, form), say(ANSWER)])
    assert got.text == ANSWER
    assert got.results == ["A1: 3 EUR"]


# --- calls that cannot be run


BAD = {
    "no JSON at all": "sku is A1 I think",
    "a list": '["A1"]',
    "a string": '"A1"',
    "a missing name": "{}",
    "an unknown name": '{"sku": "A1", "colour": "red"}',
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
async def test_arguments_that_cannot_be_used_are_answered_not_run(tmp_path, arguments) -> None:
    ran = []

    @tool
    def price(sku: str) -> str:
        """Look up a price."""
        ran.append(sku)
        return "3"

    got = await play(tmp_path, [bad_arguments("price", arguments), say("I could not.")], tools=[price])
    assert got.text == "I could not."
    assert oks(got) == [False]
    assert ran == []
    assert "sku" in got.results[0] or "JSON" in got.results[0]


async def test_nearly_json_is_repaired_and_run(tmp_path) -> None:
    got = await play(tmp_path, [bad_arguments("price", "{'sku': 'A1',}"), say(ANSWER)])
    assert got.results == ["A1: 3 EUR"]


async def test_an_unknown_tool_is_answered_with_the_names_there_are(tmp_path) -> None:
    got = await play(tmp_path, [call("prize", {"sku": "A1"}), call("price", {"sku": "A1"}), say(ANSWER)])
    assert got.text == ANSWER
    assert oks(got) == [False, True]
    assert "price" in got.results[0]


async def test_a_tool_that_raises_is_a_result_and_the_turn_goes_on(tmp_path) -> None:
    @tool
    def boom() -> None:
        """Fail."""
        raise RuntimeError("no such luck")

    got = await play(tmp_path, [calls([("boom", {}), ("price", {"sku": "A1"})]), say(ANSWER)], tools=[boom, price])
    assert got.text == ANSWER
    assert sorted(oks(got)) == [False, True]
    assert "no such luck" in got.results[0]


async def test_the_same_failing_call_again_and_again_does_not_eat_the_budget_in_silence(tmp_path) -> None:
    @tool
    def boom() -> None:
        """Fail."""
        raise RuntimeError("no such luck")

    got = await play(tmp_path, [*[call("boom", {})] * 6, say("I give up.")], tools=[boom])
    assert got.text == "I give up."
    assert len(set(got.results)) > 1, "the model is told that repeating does not help"


# --- text of any kind


@pytest.mark.parametrize("text", ["a😀b👩‍👩‍👧c", "😀", "日本語と𠮷野家"])
async def test_pairs_torn_between_chunks_arrive_whole(tmp_path, text) -> None:
    got = await play(tmp_path, [torn(text)])
    assert got.text == text


@pytest.mark.parametrize("half", ["\ud83d", "\ude00\ud83d"])
async def test_lone_surrogates_become_replacement_marks_everywhere(tmp_path, half) -> None:
    @tool
    def echo(text: str) -> str:
        """Say it back, with bytes that were no text."""
        text.encode()
        return text + "\udcff"

    script = [call("echo", json.dumps({"text": f"a{half}"}), text=f"b{half}"), say(f"c{half}d")]
    got = await play(tmp_path, script, f"Say \ud800 please {half}", tools=[echo])
    assert got.text.startswith("c\ufffd")
    assert got.text.endswith("d")
    assert got.results[0].startswith("a\ufffd")


async def test_hostile_text_is_text(tmp_path) -> None:
    text = 'data: [DONE]\n\ndata: {"error": 1}\r\n\u2028<script>alert(1)</script>\x00\x1b[31m'
    got = await play(tmp_path, [say([text, text])])
    assert got.text == text * 2


@pytest.mark.parametrize("form", get_args(ThoughtForm))
async def test_thoughts_are_told_apart_from_the_answer_in_every_form(tmp_path, form) -> None:
    got = await play(tmp_path, [say(ANSWER, thoughts=Thoughts("because I know", form))])
    assert got.text == ANSWER
    assert "".join(event.text for event in got.of(ThoughtDelta)) == "because I know"
    assert got.of(Replied)[0].thoughts == "because I know"


async def test_a_model_that_only_repeats_a_failing_call_is_stopped_long_before_its_budget(tmp_path) -> None:
    @tool
    def boom() -> None:
        """Fail."""
        raise RuntimeError("no such luck")

    got = await play(tmp_path, forever(call("boom", {})), tools=[boom])
    assert got.outcome is Outcome.FAILED
    assert "`boom`" in got.turn.reason
    assert len(got.requests) == 7
