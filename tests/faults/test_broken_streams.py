"""A connection that fails in any way at any moment: the turn goes on, and the text has no seam, no loss and no duplicate."""

from __future__ import annotations

import json

import pytest

from hermes_kernel import Outcome
from hermes_kernel.core.events import Retracted, Silence, TextDelta
from hermes_kernel.testing import (
    Step,
    call,
    disconnect,
    disconnect_in_call,
    error_in_stream,
    forever,
    garbled,
    hang_up,
    late,
    queued,
    raw,
    say,
    stall,
    unfinished,
)
from tests.faults.played import ANSWER, Played, oks, play, retries

MID_TEXT = {
    "stall": stall(ANSWER, after=3, seconds=30),
    "disconnect": disconnect(ANSWER, after=3),
    "reset": disconnect(ANSWER, after=3, reset=True),
    "garbled": garbled(ANSWER, after=3),
    "no finish reason": unfinished("It costs three "),
    "error object": error_in_stream(text="It costs three ", form="object"),
    "error string": error_in_stream(text="It costs three ", form="string"),
    "error of old vLLM": error_in_stream(text="It costs three ", form="vllm"),
    "error of OpenRouter": error_in_stream(text="It costs three ", form="openrouter"),
    "error as SSE event": error_in_stream(text="It costs three ", form="event"),
    "error of old llama-server": error_in_stream(text="It costs three ", form="llama_line"),
    "error in a list": error_in_stream(text="It costs three ", form="list"),
}
EMPTY = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'
BEFORE = {
    "hang up": hang_up(),
    "hang up with reset": hang_up(reset=True),
    "late": late(say(ANSWER), 30),
    "only keep-alives": queued(say(ANSWER), 30),
    "only empty events": queued(say(ANSWER), 30, line=EMPTY),
    "a line that drips": queued(say(ANSWER), 30, line=b"data: "),
    "stall before the text": stall(ANSWER, after=0, seconds=30),
    "error first": error_in_stream(),
    "nothing": unfinished(""),
}
SILENT = ("late", "only keep-alives", "only empty events", "a line that drips", "stall before the text")
QUICK = {"stale_seconds": 0.4, "first_byte_seconds": 0.4, "queued_seconds": 0.4}
FAULTS = MID_TEXT | BEFORE


def deltas(got: Played) -> str:
    return "".join(event.text for event in got.of(TextDelta))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_a_retry_that_says_the_same_shows_every_word_once(tmp_path, fault: Step) -> None:
    got = await play(tmp_path, [fault, say(ANSWER)], **QUICK)
    assert got.outcome is Outcome.COMPLETED
    assert got.text == ANSWER
    assert deltas(got) == ANSWER
    assert not got.of(Retracted)
    assert len(got.requests) == 2
    assert len(retries(got)) == 1


@pytest.mark.parametrize("fault", MID_TEXT.values(), ids=MID_TEXT)
async def test_a_retry_that_says_something_else_takes_the_first_words_back(tmp_path, fault: Step) -> None:
    got = await play(tmp_path, [fault, say("It is free.")], **QUICK)
    assert got.text == "It is free."
    assert len(got.of(Retracted)) == 1
    assert len(got.requests) == 2


@pytest.mark.parametrize("fault", MID_TEXT.values(), ids=MID_TEXT)
async def test_a_retry_that_says_less_takes_the_rest_back(tmp_path, fault: Step) -> None:
    got = await play(tmp_path, [fault, say("It ")], **QUICK)
    assert got.text == "It "
    assert len(got.of(Retracted)) == 1


LASTING = {name: fault for name, fault in FAULTS.items() if name not in SILENT}


@pytest.mark.parametrize("fault", LASTING.values(), ids=LASTING)
async def test_an_endpoint_that_never_recovers_is_given_up_after_three_retries(tmp_path, fault: Step) -> None:
    got = await play(tmp_path, [forever(fault)], **QUICK)
    assert got.outcome is Outcome.FAILED
    assert got.turn.reason
    assert len(got.requests) == 4
    assert [event.attempt for event in retries(got)] == [1, 2, 3]
    assert bool(got.text) == (fault in MID_TEXT.values())


@pytest.mark.parametrize("name", ["stall", *SILENT])
async def test_a_silent_connection_is_closed_and_a_fresh_one_opened(tmp_path, name: str) -> None:
    got = await play(tmp_path, [FAULTS[name], say(ANSWER)], **QUICK)
    silent, fresh = got.requests
    assert silent.closed_by_client is not None
    assert silent.closed_by_client < 10
    assert fresh.connection != silent.connection
    assert got.faults[0] in ("stale_stream", "timeout")


@pytest.mark.parametrize("line", [b": PROCESSING\n\n", EMPTY])
async def test_keep_alives_are_shown_as_queued_and_are_not_taken_for_a_dead_server(tmp_path, line: bytes) -> None:
    got = await play(tmp_path, [queued(say(ANSWER), 2.5, line=line)], **QUICK | {"queued_seconds": 60})
    assert got.text == ANSWER
    assert len(got.requests) == 1
    assert {event.kind for event in got.of(Silence)} == {"queued"}


async def test_blank_lines_are_keep_alives_too(tmp_path) -> None:
    got = await play(tmp_path, [queued(say(ANSWER), 0.8, line=b"\n")], **QUICK | {"queued_seconds": 60})
    assert got.text == ANSWER
    assert len(got.requests) == 1


async def test_a_slow_stream_is_not_a_silent_one(tmp_path) -> None:
    got = await play(tmp_path, [say(ANSWER, gap=0.15)], **QUICK)
    assert got.text == ANSWER
    assert len(got.requests) == 1


async def test_a_whole_answer_that_comes_slowly_is_not_a_line_that_drips(tmp_path) -> None:
    text = ANSWER * 20_000  # three seconds of it: twice as long as keep-alives alone are borne
    body = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()
    pieces = [part for at in range(0, len(body), 30_000) for part in (body[at : at + 30_000], 0.1)]
    got = await play(tmp_path, [raw(*pieces)], **QUICK | {"stale_seconds": 1.5, "queued_seconds": 1.5})
    assert got.text == text
    assert len(got.requests) == 1


async def test_a_reply_that_is_done_does_not_wait_for_keep_alives_to_end(tmp_path) -> None:
    said = json.dumps({"choices": [{"delta": {"content": ANSWER}, "finish_reason": "stop"}]}).encode()
    step = raw(b"data: " + said + b"\n\n", *(b": PROCESSING\n\n", 0.02) * 1500)
    got = await play(tmp_path, [step], **QUICK | {"queued_seconds": 20})
    assert got.text == ANSWER
    assert got.requests[0].closed_by_client is not None
    assert got.requests[0].closed_by_client < 10


BROKEN_CALLS = {
    "disconnect": disconnect_in_call("price", {"sku": "A1"}, keep=6, text="Let me look."),
    "disconnect before the arguments": disconnect_in_call("price", {"sku": "A1"}, keep=0, text="Let me look."),
    "disconnect after the arguments": disconnect_in_call("price", {"sku": "A1"}, keep=13, text="Let me look."),
}


@pytest.mark.parametrize("fault", BROKEN_CALLS.values(), ids=BROKEN_CALLS)
async def test_a_call_of_a_broken_stream_runs_once_and_only_when_it_came_whole(tmp_path, fault: Step) -> None:
    script = [fault, call("price", {"sku": "A1"}, text="Let me look."), say(ANSWER)]
    got = await play(tmp_path, script)
    assert got.text == ANSWER
    assert got.results == ["A1: 3 EUR"]
    assert oks(got) == [True]
    assert len(got.requests) == 3


async def test_the_first_words_of_a_turn_with_tools_are_shown_once_too(tmp_path) -> None:
    script = [BROKEN_CALLS["disconnect"], call("price", {"sku": "A1"}, text="Let me look."), say(ANSWER)]
    got = await play(tmp_path, script)
    assert deltas(got) == "Let me look." + ANSWER
