"""Every turn ends: its budget, its silences, its retries and its time are bounded, and what was done is said."""

from __future__ import annotations

import time

import pytest

from hermes_kernel import Agent, HermesError, Outcome, tool
from hermes_kernel.core import events
from hermes_kernel.core.events import Failed, Final, Observed, Silence, TextDelta
from hermes_kernel.testing import (
    FastClock,
    Request,
    Server,
    Step,
    call,
    calls,
    empty,
    forever,
    late,
    rate_limited,
    say,
    stall,
    status,
)
from hermes_kernel.world.clock import SystemClock
from tests.faults.played import ANSWER, KEY, Played, hung_up, play, price, retries

LONG = "one two three four five six seven eight nine ten"


def endless(request: Request) -> Step:
    """A model that asks for a tool whenever it is offered one."""
    return (
        call("price", {"sku": f"A{request.number}"}) if request.body.get("tools") else say("I looked up five prices.")
    )


async def test_a_budget_of_five_is_five_calls_and_one_grace_call_without_tools(tmp_path) -> None:
    got = await play(tmp_path, endless, max_iterations=5)
    assert got.outcome is Outcome.BUDGET_EXHAUSTED
    assert len(got.requests) == 6
    assert [bool(request.body.get("tools")) for request in got.requests] == [True] * 5 + [False]
    assert got.text == "I looked up five prices."
    assert len(got.results) == 5
    assert got.turn.budget.remaining == 0
    assert "5" in got.requests[-1].messages[-1]["content"]


@pytest.mark.parametrize("grace", [status(500), empty(), call("price", {"sku": "Z"})], ids=["error", "empty", "call"])
async def test_a_grace_call_that_fails_leaves_an_answer_that_says_what_was_done(tmp_path, grace: Step) -> None:
    def script(request: Request) -> Step:
        return call("price", {"sku": f"A{request.number}"}) if request.number <= 5 else grace

    got = await play(tmp_path, script, max_iterations=5)
    assert got.outcome is Outcome.BUDGET_EXHAUSTED
    assert "price" in got.text
    assert "5" in got.text
    assert len(got.results) == 5
    assert len(got.requests) <= 9


async def test_a_budget_given_with_the_prompt_is_that_turns_budget(tmp_path) -> None:
    with Server(endless) as server:
        agent = Agent("m", [price], clock=FastClock(), home=tmp_path, base_url=server.url, api_key=KEY)
        turn = await agent.ask("Go.", budget=2)
        assert turn.outcome is Outcome.BUDGET_EXHAUSTED
        assert len(server.requests) == 3
        assert (await agent.ask("Go.", budget=3)).outcome is Outcome.BUDGET_EXHAUSTED
        assert len(server.requests) == 7
        agent.close()
        await hung_up(server)


async def test_retries_do_not_cost_budget_and_start_anew_with_each_reply(tmp_path) -> None:
    failing = [status(500)] * 3
    got = await play(tmp_path, [*failing, call("price", {"sku": "A1"}), *failing, say(ANSWER)], max_iterations=2)
    assert got.outcome is Outcome.COMPLETED
    assert got.turn.calls == 2
    assert [event.attempt for event in retries(got)] == [1, 2, 3, 1, 2, 3]


async def test_a_stall_of_twenty_seconds_under_a_limit_of_three_is_over_within_five_of_the_limit(tmp_path) -> None:
    began = time.monotonic()
    got = await play(
        tmp_path,
        [stall(LONG, after=5, seconds=20), say(LONG)],
        clock=SystemClock(),
        stale_seconds=3,
        retry_base_seconds=1,
    )
    assert time.monotonic() - began < 3 + 5
    assert got.outcome is Outcome.COMPLETED
    assert got.text == LONG
    silent, fresh = got.requests
    assert silent.closed_by_client is not None
    assert 2.5 < silent.closed_by_client < 3 + 2
    assert fresh.connection != silent.connection
    assert got.faults == ["stale_stream"]
    assert got.of(Silence)


async def test_a_loop_that_is_blocked_is_not_mistaken_for_a_server_that_is_silent(tmp_path) -> None:
    """Code that keeps the loop, in the middle of a stream and in a `python` call, for many times the limit."""
    script = [call("python", {"code": "import time; time.sleep(2)"}), say(["word "] * 20, gap=0.05), say("Later.")]
    with Server(script) as server:
        agent = Agent("any", base_url=server.url, home=tmp_path, approvals="deny", stale_seconds=0.4)
        blocked = False
        async for event in agent.stream("go"):
            if isinstance(event, TextDelta) and not blocked:
                blocked = True
                time.sleep(2)
        agent.close()
        await hung_up(server)
    assert blocked
    assert agent.turn.text == "word " * 20
    assert not [event for event in agent.turn.events if isinstance(event, Failed)]
    assert len(server.requests) == 2


async def test_a_turn_has_a_wall_clock_limit_and_says_what_was_done(tmp_path) -> None:
    script = [call("price", {"sku": "A1"}), late(say("never"), 30)]
    began = time.monotonic()
    got = await play(tmp_path, script, clock=SystemClock(), turn_seconds=1.0)
    assert time.monotonic() - began < 10
    assert got.outcome is Outcome.BUDGET_EXHAUSTED
    assert "time limit" in got.text
    assert got.requests[-1].closed_by_client is not None


async def test_a_wait_is_part_of_the_wall_clock_limit(tmp_path) -> None:
    began = time.monotonic()
    got = await play(tmp_path, [forever(rate_limited(60))], clock=SystemClock(), turn_seconds=1.0)
    assert time.monotonic() - began < 10
    assert got.outcome is Outcome.BUDGET_EXHAUSTED
    assert len(got.requests) == 1


async def test_a_tool_has_a_deadline_and_the_turn_goes_on(tmp_path) -> None:
    @tool
    def hang() -> None:
        """Never return in time."""
        time.sleep(3)

    got = await play(
        tmp_path, [calls([("hang", {}), ("price", {"sku": "A1"})]), say(ANSWER)], tools=[hang, price], tool_seconds=0.3
    )
    assert got.text == ANSWER
    assert [event.ok for event in sorted(got.of(Observed), key=lambda e: e.call_id)] == [False, True]


async def test_a_proactive_limit_is_waited_for_before_the_call(tmp_path) -> None:
    script = [call("price", {"sku": "A1"}), call("price", {"sku": "A2"}), say(ANSWER)]
    clock = FastClock()
    got = await play(tmp_path, script, clock=clock, requests_per_minute=2)
    assert got.text == ANSWER
    assert len(got.requests) == 3
    assert clock.skipped >= 50
    assert any(event.fault.value == "proactive_rate_limit" for event in retries(got))


async def stopped(tmp_path, script, after: type, **settings) -> Played:
    """A turn that a person stops as soon as an event of some kind is seen."""
    with Server(script) as server:
        agent = Agent("m", [price], home=tmp_path, base_url=server.url, api_key=KEY, **settings)
        events = []
        async for event in agent.stream("Go."):
            events.append(event)
            if isinstance(event, after):
                agent.stop()
                agent.stop()
        agent.close()
        await hung_up(server)
        return Played(agent.turn, tuple(events), server.requests, agent.turn.transcript)


@pytest.mark.parametrize(
    ("script", "after"),
    [
        ([late(say("x"), 30)], "Calling"),
        ([stall(LONG, after=3, seconds=30)], "TextDelta"),
        ([stall(LONG, after=3, seconds=30)], "Silence"),
        ([rate_limited(60)], "Waiting"),
        ([calls([("price", {"sku": "A"})] * 8)], "Started"),
    ],
    ids=["before the first byte", "mid stream", "silent stream", "backoff", "tools"],
)
async def test_a_stop_ends_the_turn_at_once_and_leaves_the_history_whole(tmp_path, script, after: str) -> None:

    began = time.monotonic()
    got = await stopped(tmp_path, script, getattr(events, after))
    assert time.monotonic() - began < 5
    assert got.outcome is Outcome.INTERRUPTED
    assert len(got.of(Final)) == 1
    assert len(got.results) == len(got.turn.tool_calls)


async def test_the_prompt_after_a_stop_works(tmp_path) -> None:
    with Server([stall(LONG, after=3, seconds=30), say(ANSWER)]) as server:
        agent = Agent("m", [price], home=tmp_path, base_url=server.url, api_key=KEY)
        async for event in agent.stream("Go."):
            if type(event).__name__ == "TextDelta":
                agent.stop()
        turn = await agent.ask("Again.")
        agent.close()
        await hung_up(server)
    assert turn.text == ANSWER
    roles = [message["role"] for message in server.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "user"]


async def test_an_empty_prompt_is_refused_without_a_request(tmp_path) -> None:
    with Server([say(ANSWER)]) as server:
        agent = Agent("m", home=tmp_path, base_url=server.url, api_key=KEY)
        with pytest.raises(HermesError):
            await agent.ask("   \n")
        agent.close()
        assert server.requests == ()


async def test_no_server_at_all_is_a_failure_in_one_line(tmp_path) -> None:
    agent = Agent("m", clock=FastClock(), home=tmp_path, base_url="http://127.0.0.1:9/v1", api_key=KEY)
    turn = await agent.ask("Go.")
    agent.close()
    assert turn.outcome is Outcome.FAILED
    assert "127.0.0.1" in turn.reason
    assert "\n" not in turn.reason
