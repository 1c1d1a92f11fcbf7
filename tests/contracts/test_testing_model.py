"""The scripted model tells, without a wire, what a right adapter makes of each step; the fast clock makes waits free."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Calling, Event, Failed, Interrupted, Replied, Retracted, TextDelta, ThoughtDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, ToolSpec, User
from hermes_kernel.testing import (
    OVERFLOWS,
    FastClock,
    ScriptedModel,
    Step,
    call,
    cut_call,
    disconnect,
    empty,
    error_in_stream,
    forever,
    garbled,
    hang_up,
    late,
    login_page,
    out_of_quota,
    overflow,
    rate_limited,
    say,
    stall,
    status,
    thinking_only,
    torn,
    unfinished,
    unstreamed,
)
from hermes_kernel.world.stop import Stop

ASK = CallModel((User("q"),))


async def told(script: Any, command: CallModel = ASK) -> list[Event]:
    model = ScriptedModel(script, clock=FastClock())
    return [event async for event in model.reply(command, (), Stop())]


async def last(step: Step) -> Event:
    *passing, end = await told([step])
    assert not any(isinstance(event, Replied | Failed | Interrupted) for event in passing)
    return end


async def test_a_reply_is_told_in_pieces_that_add_up() -> None:
    opening, *deltas, replied = await told([say("Hello there.", thoughts="hm")])
    assert isinstance(opening, Calling)
    assert deltas == [ThoughtDelta("hm"), TextDelta("Hello "), TextDelta("there.")]
    assert isinstance(replied, Replied)
    assert (replied.text, replied.thoughts, replied.finish) == ("Hello there.", "hm", Finish.STOP)


async def test_calls_have_ids_of_their_own_in_every_reply() -> None:
    model = ScriptedModel([forever(call("price", {"sku": "A1"}))])
    ids = []
    for _ in range(2):
        *_, replied = [event async for event in model.reply(ASK, (ToolSpec("price", "", "{}"),), Stop())]
        assert isinstance(replied, Replied)
        ids.append(replied.calls[0].id)
    assert ids == ["call_1_0", "call_2_0"]
    assert model.offered == [("price",), ("price",)]
    assert model.calls == [ASK, ASK]


FAULTS = [
    (stall("a b", after=1, seconds=100), Fault.STALE_STREAM, "a "),
    (hang_up(), Fault.DISCONNECT, ""),
    (disconnect("a b", after=1), Fault.DISCONNECT, "a "),
    (unfinished("a b"), Fault.DISCONNECT, "a b"),
    (garbled("a b", after=1), Fault.DISCONNECT, "a "),
    (error_in_stream(text="a "), Fault.SERVER_ERROR, "a "),
    (login_page(), Fault.INVALID_RESPONSE, ""),
    (status(401), Fault.AUTH, ""),
    (status(402), Fault.BILLING, ""),
    (out_of_quota(), Fault.BILLING, ""),
    (status(413), Fault.PAYLOAD_TOO_LARGE, ""),
    (status(503), Fault.OVERLOADED, ""),
    *[(overflow(wording), Fault.CONTEXT_OVERFLOW, "") for wording in OVERFLOWS],
]


@pytest.mark.parametrize(("step", "fault", "partial"), FAULTS, ids=lambda value: getattr(value, "name", None))
async def test_a_fault_ends_in_failed_with_what_a_person_saw(step: Step, fault: Fault, partial: str) -> None:
    end = await last(step)
    assert isinstance(end, Failed)
    assert (end.fault, end.partial) == (fault, partial)


async def test_a_hint_becomes_a_wait() -> None:
    end = await last(rate_limited(7, hint="retry_delay"))
    assert isinstance(end, Failed)
    assert (end.fault, end.wait, end.status) == (Fault.RATE_LIMIT, 7, 429)


async def replied(step: Step) -> Replied:
    end = await last(step)
    assert isinstance(end, Replied)
    return end


async def test_useless_replies_are_told_as_replies() -> None:
    half = await replied(cut_call("w", {"a": "b"}, keep=3))
    assert half.cut
    assert half.calls[0].flaw
    assert (await replied(thinking_only("hm", finish="length"))).cut
    assert (await replied(empty())).text == ""
    assert (await replied(unstreamed("Hi"))).text == "Hi"


async def test_torn_pairs_are_whole_when_they_are_told() -> None:
    deltas = [event for event in await told([torn("a😀")]) if isinstance(event, TextDelta)]
    assert "".join(delta.text for delta in deltas) == "a😀"


async def test_what_was_shown_is_not_told_again_and_other_text_retracts_it() -> None:
    same = await told([say("one two three")], CallModel((), shown="one t"))
    assert [event for event in same if isinstance(event, TextDelta | Retracted)] == [
        TextDelta("wo "),
        TextDelta("three"),
    ]
    other = await told([say("one four")], CallModel((), shown="one t"))
    assert [event for event in other if isinstance(event, TextDelta | Retracted)] == [
        Retracted(),
        TextDelta("one four"),
    ]


async def test_a_stop_ends_a_pause_with_what_was_seen() -> None:
    stop = Stop()
    seen = []
    async for event in ScriptedModel([stall("a b", after=1, seconds=60)]).reply(ASK, (), stop):
        seen.append(event)
        stop.press()
    assert seen[-1] == Interrupted("person", "")
    *_, end = [e async for e in ScriptedModel([late(say("a"), 60)]).reply(CallModel((), shown="x"), (), stop)]
    assert end == Interrupted("person", "x")


async def test_a_function_may_answer_from_the_command() -> None:
    events = await told(lambda command: say(command.transcript[-1].text), CallModel((User("ping"),)))
    assert events[1] == TextDelta("ping")


async def test_a_script_at_its_end_says_so_as_a_fault() -> None:
    (_, end) = await told([])
    assert isinstance(end, Failed)
    assert "exhausted" in end.message


async def test_it_knows_whether_its_script_was_followed_and_what_the_tools_answered() -> None:
    asked = (User("q"), Assistant("", (ToolCall("1", "price", "{}"),)), Observation("1", "price", "3"))
    model = ScriptedModel([say("a"), say("b")])
    assert model.results == []
    for _ in range(2):
        async for _ in model.reply(CallModel(asked), (), Stop()):
            assert model.results == ["3"]
    model.check()
    with pytest.raises(AssertionError, match="not used up"):
        ScriptedModel([say("a")]).check()


async def test_the_fast_clock_passes_time_that_was_never_waited() -> None:
    clock = FastClock(1000.0, chances=(0.1, 0.9))
    began, real = clock.elapsed(), time.monotonic()
    await clock.sleep(600)
    assert clock.elapsed() - began >= 600
    assert clock.now() >= 1600
    assert clock.skipped > 590
    assert time.monotonic() - real < 60
    assert [clock.chance() for _ in range(3)] == [0.1, 0.9, 0.1]


async def test_of_two_waits_the_shorter_ends_first_and_time_passes_once() -> None:
    clock, ended = FastClock(), []

    async def wait(seconds: float) -> None:
        await clock.sleep(seconds)
        ended.append(seconds)

    began = clock.elapsed()
    await asyncio.gather(wait(200), wait(20), wait(100))
    assert ended == [20, 100, 200]
    assert 200 <= clock.elapsed() - began < 260
