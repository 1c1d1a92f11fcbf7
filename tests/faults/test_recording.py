"""Turns in which something goes wrong, recorded and replayed: each fault is one again, and is mended in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_kernel import Agent, Outcome
from hermes_kernel.core.events import Failed, Noticed, Retrying
from hermes_kernel.core.faults import Fault
from hermes_kernel.testing import (
    FAULTS,
    FastClock,
    Server,
    Step,
    call,
    cut_off,
    empty,
    error_with_200,
    failed_generation,
    forever,
    rate_limited,
    refused_parameter,
    refused_tool_choice,
    say,
    status,
    torn,
    unstreamed,
    used_up,
    without_tools,
    written_call,
)
from tests.contracts.recorded import KEY, timeless
from tests.faults.played import ANSWER, price
from tests.faults.test_broken_streams import BROKEN_CALLS, QUICK
from tests.faults.test_broken_streams import FAULTS as BROKEN

ONE = ("price", {"sku": "A1"})
MENDED: dict[str, tuple[Step, ...]] = {
    **{f"{name}, then an answer": (step, say(ANSWER)) for name, step in BROKEN.items()},
    "cut, then another answer": (BROKEN["disconnect"], say("It is free.")),
    **{
        f"{name} in a call": (step, call(*ONE, text="Let me look."), say(ANSWER)) for name, step in BROKEN_CALLS.items()
    },
    **{f"fault {name}": (call(*ONE), step, say(ANSWER)) for name, step in FAULTS.items()},
    "a hint of an hour": (rate_limited(3600), say(ANSWER)),
    "a limit that is used up": (used_up(call(*ONE), 30), say(ANSWER)),
    "cut off and continued": (cut_off("It costs three euros, "), say("and shipping is free.")),
    "empty": (empty(), say(ANSWER)),
    "torn": (torn("a😀b🎈"),),
    "unstreamed": (unstreamed(ANSWER),),
    "a field that is not known": (refused_parameter("stream_options"), say(ANSWER)),
    "a choice that is not known": (refused_tool_choice(), say(ANSWER)),
    "no tools": (without_tools(), say(ANSWER)),
    "a call that could not be read": (failed_generation('<function=price>{"sku": "A1"}</function>'), say(ANSWER)),
    "a call in the text": (written_call("price", {"sku": "A1"}), say(ANSWER)),
    "an error with 200": (error_with_200(), say(ANSWER)),
    "never mended": (status(500),),
}


async def played(home: Path, file: Path, url: str = "", **settings):
    """The events of one turn that is recorded in `file`, or without `url` answered from it."""
    source = {"base_url": url, "api_key": KEY, "model": "m", "record": str(file)} if url else {"replay": str(file)}
    agent = Agent(tools=[price], clock=FastClock(), home=home, approvals="deny", spec=True, **source, **settings)
    events = [event async for event in agent.stream("What does A1 cost?")]
    agent.close()
    assert agent.recording is None
    return events, agent.turn


@pytest.mark.parametrize("name", MENDED)
async def test_a_turn_that_met_a_fault_meets_it_again_when_it_is_replayed(tmp_path, name):
    *steps, last = MENDED[name]
    file = tmp_path / "x"
    with Server([*steps, forever(last)]) as server:
        recorded, turn = await played(tmp_path / "one", file, server.url, **QUICK)
    replayed, again = await played(tmp_path / "two", file)
    assert timeless(replayed) == timeless(recorded)
    assert again.text == turn.text
    assert again.outcome == turn.outcome
    assert again.usage == turn.usage


async def test_nobody_answered_and_nobody_is_asked_again(tmp_path):
    nowhere = "http://127.0.0.1:9/v1"
    recorded, turn = await played(tmp_path / "one", tmp_path / "x", nowhere)
    replayed, again = await played(tmp_path / "two", tmp_path / "x")
    assert turn.outcome is again.outcome is Outcome.FAILED
    assert timeless(replayed) == timeless(recorded)
    assert again.reason == turn.reason
    assert sum(isinstance(event, Failed) for event in replayed) == 4


async def test_fallbacks_of_the_recording_answer_and_those_of_the_person_are_not_asked(tmp_path):
    with Server([status(401), say(ANSWER)]) as server:
        recorded, _ = await played(tmp_path / "one", tmp_path / "x", server.url, fallback_models=("second",))
    for own in ((), ("gpt-9", "gpt-8", "gpt-7")):
        replayed, turn = await played(tmp_path / "two", tmp_path / "x", fallback_models=own)
        assert timeless(replayed) == timeless(recorded)
        assert turn.text == ANSWER


async def test_what_nobody_recorded_is_given_up_at_once_without_a_retry_or_a_fallback(tmp_path):
    with Server([call(*ONE), say(ANSWER)]) as server:
        await played(tmp_path / "one", tmp_path / "x", server.url, fallback_models=("second",))
    text = (tmp_path / "x").read_text().replace("A1: 3 EUR", "A1: 4 EUR")
    (tmp_path / "x").write_text(text)
    events, turn = await played(tmp_path / "two", tmp_path / "x")
    assert turn.outcome is Outcome.FAILED
    assert [event.fault for event in events if isinstance(event, Failed)] == [Fault.NOT_RECORDED]
    assert not any(isinstance(event, Retrying | Noticed) for event in events)
    assert "[-4-]{+3+} EUR" in turn.reason
