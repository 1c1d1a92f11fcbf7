"""Stops that reach down: a latch below another, tools that close what they opened, and what may not be reached from within."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent
from hermes_kernel.core.events import Event, Final, Interrupted, Leased, Noticed, Observed, Returned, Started
from hermes_kernel.core.messages import Observation, ToolCall
from hermes_kernel.core.turn import recall
from hermes_kernel.testing import Request, ScriptedModel, Server, Step, call, late, say
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store
from hermes_kernel.world.tools import Result, Tool
from hermes_kernel.world.tools.speaking import SPEAKER
from tests.contracts.toolbox import toolbox

PATIENCE = 5  # times: on a machine that stalls for longer than the grace of 0.16 s, a stop waits for nobody


# --- latches


def test_a_latch_below_is_pressed_with_the_one_above_and_not_the_other_way_round() -> None:
    above = Stop()
    with above.below() as one, above.below() as two, one.below() as lowest:
        two.press("time")
        assert (above.by, one.by, two.by, lowest.by) == ("", "", "time", "")
        above.press("person")
        assert (above.by, one.by, two.by, lowest.by) == ("person", "person", "time", "person")
        with above.below() as late_comer:
            assert late_comer.by == "person"


def test_a_latch_that_has_gone_is_not_pressed() -> None:
    above = Stop()
    with above.below() as below:
        pass
    above.press()
    assert below.by == ""


async def test_whoever_waits_below_wakes_when_a_thread_presses_above() -> None:
    above = Stop()
    with above.below() as below:
        threading.Timer(0.01, above.press).start()
        await asyncio.wait_for(below.wait(), 5)
    assert below.by == "person"


# --- tools that close what they opened


def closing(name: str, work: Any) -> Tool:
    return Tool(name, "Works until it is stopped.", json.dumps({"type": "object", "properties": {}}), work, closes=True)


async def stopped_batch(tmp_path: Path, *tools: Tool) -> list[Event]:
    """The events of a batch of these tools that is stopped once all have begun."""
    made, stop, events = toolbox(tmp_path), Stop(), []
    for each in tools:
        made.add(each)
    begun = 0
    async for event in made.run([ToolCall(f"call_{t.name}", t.name, "{}") for t in tools], stop):
        events.append(event)
        begun += isinstance(event, Started)
        if begun == len(tools) and not stop.by:
            asyncio.get_running_loop().call_later(0.02, stop.press)
    return events


async def test_a_tool_that_closes_what_it_opened_says_what_came_of_it_when_stopped(tmp_path: Path) -> None:
    async def work() -> Result:
        speaker = SPEAKER.get()
        await speaker.tell(Leased("child", 3, "x"))
        await speaker.stop.wait()
        await asyncio.sleep(0.02)
        await speaker.tell(Noticed("nobody hears this any more"))
        await speaker.tell(Returned("child", 2))
        return Result("two of three done", ok=False)

    async def deaf() -> str:
        await asyncio.sleep(60)
        return "never"

    for _ in range(PATIENCE):
        events = await stopped_batch(tmp_path, closing("work", work), Tool("deaf", "x", "{}", deaf))
        if any(isinstance(event, Observed) for event in events):
            break
    assert [type(event) for event in events] == [Started, Started, Leased, Returned, Observed, Interrupted]
    assert [e.text for e in events if isinstance(e, Observed)] == ["two of three done"]


async def test_one_that_does_not_close_in_time_is_not_waited_for(tmp_path: Path) -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            closed.append("in the end")
        return "never"

    closed: list[str] = []
    events = await stopped_batch(tmp_path, closing("stubborn", stubborn))
    assert [type(event) for event in events] == [Started, Interrupted]
    assert closed == ["in the end"]


async def test_one_that_waits_for_its_word_to_be_taken_when_the_stop_comes_goes_on(tmp_path: Path) -> None:
    async def talkative() -> Result:
        speaker = SPEAKER.get()
        while not speaker.stop.by:
            await speaker.tell(Noticed("word"))
            await asyncio.sleep(0)
        return Result("closed", ok=False)

    for _ in range(PATIENCE):
        events = await stopped_batch(tmp_path, closing("talkative", talkative))
        if any(isinstance(event, Observed) for event in events):
            break
    assert isinstance(events[-1], Interrupted)
    assert [e.text for e in events if isinstance(e, Observed)] == ["closed"]


# --- what may not be reached from within


async def test_code_that_a_model_runs_cannot_let_subagents_into_the_persons_namespace(tmp_path: Path) -> None:
    model = ScriptedModel([call("python", {"code": "await agent.delegate('x', namespace=True)"}), say("no luck")])
    async with Agent(model, home=tmp_path) as agent:
        agent.tools.namespace["agent"] = agent
        turn = await agent.ask("go")
    (result,) = [m for m in turn.messages if isinstance(m, Observation)]
    assert not result.ok
    assert "A turn is running" in result.text
    assert len(model.calls) == 2


# --- a terminal


SCRIPT = """
import os, signal, sys, threading
from hermes_kernel import Agent
agent = Agent("m", home=sys.argv[1], base_url=sys.argv[2], api_key="k", max_iterations=30)
print(agent.session_id, flush=True)
if sys.argv[3] == "turn":
    print(agent.ask_sync("go").outcome, flush=True)
else:
    print(*(report.outcome for report in agent.delegate_sync(["a", "b"])), flush=True)
agent.close()
"""


@pytest.mark.parametrize(("how", "ended"), [("turn", "interrupted"), ("tasks", "interrupted interrupted")])
async def test_ctrl_c_in_a_script_ends_the_tree_and_all_of_it_is_whole(tmp_path: Path, how: str, ended: str) -> None:
    def answer(request: Request) -> Step:
        inside = "You are a subagent" in str(request.messages[0]["content"])
        return late(say("never"), 60) if inside else call("delegate", {"tasks": ["a", "b"]})

    with Server(answer) as server:
        command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path), server.url, how]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as script:
            assert script.stdout is not None
            session = script.stdout.readline().strip()
            assert server.await_requests(3 if how == "turn" else 2)
            script.send_signal(signal.SIGINT)
            assert script.stdout.readline().strip() == ended
            assert script.wait(10) == 0
    store = Store(tmp_path)
    rows = store.sessions()
    assert [row.id for row in rows if row.kind == "chat"] == [session]
    children = [store.recall(row.id) for row in rows if row.kind == "subagent"]
    assert [recall(facts).outcome for facts in children] == ["interrupted"] * 2
    assert all(isinstance(facts[-1], Final) for facts in children)
    store.close()
