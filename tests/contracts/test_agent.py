"""What holds of an agent and its conversation, over the real store and a scripted model."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, HermesError, tool
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Asked, Final, Interrupted, Kept, Observed, Opened, Replied, Started, TextDelta
from hermes_kernel.core.messages import Assistant, Observation, ToolCall
from hermes_kernel.core.turn import decide
from hermes_kernel.delegating.child import WITHHELD
from hermes_kernel.prompt import BUILT_IN
from hermes_kernel.settings import NoEndpoint
from hermes_kernel.testing import FastClock, ScriptedModel, Server, Step, call, calls, cut_off, forever, say, stall
from hermes_kernel.world.store import MemoryLog, Store
from tests.laws.worlds import check_whole


@tool
def price(sku: str) -> int:
    """The price of something."""
    return len(sku)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def agents(home: Path) -> Iterator[Any]:
    made: list[Agent] = []

    def make(*steps: Any, **options: Any) -> Agent:
        options.setdefault("home", home)
        made.append(Agent(ScriptedModel(list(steps)), [price], **options))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


async def test_a_prompt_is_answered_and_everything_about_it_is_in_the_turn(agents: Any) -> None:
    turn = await agents(call("price", {"sku": "abc"}), say("It costs 3.")).ask("What does abc cost?")
    assert (turn.text, turn.outcome) == ("It costs 3.", "completed")
    assert [c.name for c in turn.tool_calls] == ["price"]
    assert turn.budget.spent == 2
    assert turn.usage.calls == 2
    assert isinstance(turn.events[0], Asked)
    assert isinstance(turn.events[-1], Final)


async def test_every_fact_is_on_disk_before_it_is_told(agents: Any, home: Path) -> None:
    agent = agents(call("price", {"sku": "abc"}), say("3"))
    seen = []
    async for event in agent.stream("price?"):
        if isinstance(event, (Asked, Replied, Started, Observed, Final)):
            seen.append(event)
            assert Store(home).recall(agent.session_id)[1:][-1] == event
    assert [type(event).__name__ for event in seen] == ["Asked", "Replied", "Started", "Observed", "Replied", "Final"]


async def test_a_consumer_that_leaves_early_leaves_a_whole_conversation(agents: Any) -> None:
    agent = agents(call("price", {"sku": "abc"}), say("never asked"), say("fine"))
    async with aclosing(agent.stream("price?")) as events:
        async for event in events:
            if isinstance(event, Started):
                break
    assert decide(agent.turn) is None
    assert agent.turn.outcome == "interrupted"
    check_whole(agent.turn.transcript)
    assert not agent.busy
    assert (await agent.ask("go on")).outcome == "completed"


@pytest.mark.parametrize("leave_at", [Asked, TextDelta])
@pytest.mark.parametrize("leave_for", ["another process", "a new session"])
async def test_a_turn_that_was_left_early_is_over_in_the_log_too(
    agents: Any, home: Path, leave_at: type, leave_for: str
) -> None:
    agent = agents(say("one"))
    session = agent.session_id
    async with aclosing(agent.stream("q")) as events:
        async for event in events:
            if isinstance(event, leave_at):
                break
    assert agent.turn.outcome == "interrupted"
    agent.close() if leave_for == "another process" else agent.new()
    assert isinstance(Store(home).recall(session)[-1], Final)


async def test_two_turns_at_once_are_refused_in_one_line(agents: Any) -> None:
    agent = agents(say("one"), say("two"))
    async with aclosing(agent.stream("first")) as events:
        await anext(events)
        with pytest.raises(HermesError, match="A turn is running"):
            await agent.ask("second")


@pytest.mark.parametrize("prompt", ["", "   \n\t ", None, 7])
async def test_an_empty_prompt_is_refused_and_nothing_is_written(agents: Any, home: Path, prompt: Any) -> None:
    agent = agents(say("never"))
    with pytest.raises(HermesError, match="prompt"):
        await agent.ask(prompt)
    assert agent.turn.messages == ()
    assert Store(home).sessions() == []


async def test_unknown_tools_and_budgets_are_refused_by_name(agents: Any) -> None:
    agent = agents(say("never"))
    with pytest.raises(HermesError, match="pryce"):
        await agent.ask("q", tools=["pryce"])
    with pytest.raises(HermesError, match="budget of 0"):
        await agent.ask("q", budget=0)


async def test_a_session_killed_in_a_tool_is_resumed_and_the_tool_does_not_run_again(home: Path) -> None:
    child = textwrap.dedent("""
        import os, sys
        from hermes_kernel import Agent, tool
        from hermes_kernel.testing import ScriptedModel, calls, say

        @tool
        def die(name: str) -> str:
            "Die."
            print(name, flush=True)
            if name == "b":
                os.kill(os.getpid(), 9)
            return "done"

        agent = Agent(ScriptedModel([calls([("die", {"name": "a"})]), calls([("die", {"name": "b"})])]), [die], home=sys.argv[1])
        agent.ask_sync("go")
    """)
    ran = subprocess.run(
        [sys.executable, "-c", child, str(home)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert ran.stdout.split() == ["a", "b"]
    agent = Agent(ScriptedModel([say("b may have run; a did.")]), home=home, session="last")
    turn = await agent.finish()
    results = [m for m in turn.messages if isinstance(m, Observation)]
    assert [r.ok for r in results] == [True, False]
    assert "not run again" in results[1].text
    assert turn.text == "b may have run; a did."
    agent.close()


async def test_a_branch_of_a_turn_that_a_crash_cut_off_is_whole_and_the_original_can_still_be_finished(
    agents: Any, home: Path
) -> None:
    log = Store(home)
    price_asked = Replied("", (ToolCall("1", "price", '{"sku": "a"}'),))
    for fact in (Opened("cut"), Asked("q"), price_asked, Started("1")):
        log.append("cut", fact)
    agent = agents(say("fine"), say("done"), session="cut")
    agent.branch()
    check_whole((await agent.ask("next")).transcript)
    agent.resume("cut")
    assert (await agent.finish()).text == "done"


async def test_undo_retry_branch_and_new_work_on_the_conversation(agents: Any) -> None:
    agent = agents(say("one"), say("two"), say("two again"), say("three"), say("four"))
    await agent.ask("1")
    await agent.ask("2")
    assert (await agent.retry()).text == "two again"
    assert [m.text for m in agent.turn.transcript] == ["1", "one", "2", "two again"]
    assert agent.undo() == 1
    assert [m.text for m in agent.turn.transcript] == ["1", "one"]
    first = agent.session_id
    agent.branch()
    assert agent.session_id != first
    await agent.ask("3")
    assert [m.text for m in agent.turn.transcript] == ["1", "one", "3", "three"]
    agent.resume(first)
    assert [m.text for m in agent.turn.transcript] == ["1", "one"]
    agent.new()
    assert agent.turn.transcript == ()
    assert agent.undo() == 0
    with pytest.raises(HermesError, match="nothing|no turn"):
        await agent.retry()


async def test_a_branch_in_which_nothing_was_asked_yet_can_be_taken_back_and_asked_again(agents: Any) -> None:
    agent = agents(say("one"), say("two"), say("two again"), say("three"))
    await agent.ask("1")
    await agent.ask("2")
    first = agent.session_id
    agent.branch()
    assert (await agent.retry()).text == "two again"
    agent.branch()
    assert agent.undo() == 1
    branch = agent.session_id
    agent.resume(first)
    assert [m.text for m in agent.turn.transcript] == ["1", "one", "2", "two"], "the original stays as it is"
    agent.resume(branch)
    assert [m.text for m in (await agent.ask("3")).transcript] == ["1", "one", "3", "three"]


REFUSED = (
    {"budget": 0}, {"tools": ["pryce"]}, {"timeout": -1}, {"timeout": "soon"}, {"bugdet": 3}, {"images": ()},
)  # fmt: skip


@pytest.mark.parametrize("options", REFUSED)
async def test_a_retry_that_is_refused_takes_nothing_back(agents: Any, options: dict[str, Any]) -> None:
    agent = agents(say("one"), say("two"), say("never"))
    await agent.ask("1")
    await agent.ask("2")
    for _ in range(2):
        with pytest.raises((HermesError, TypeError)):
            await agent.retry(**options)
        assert [m.text for m in agent.turn.transcript] == ["1", "one", "2", "two"]


async def test_a_retry_for_which_there_is_no_model_takes_nothing_back(home: Path) -> None:
    options = {"home": home, "api_key": "k"}
    with Server(lambda _: say("one")) as server, closing(Agent("any", base_url=server.url, **options)) as agent:
        await agent.ask("1")
        agent.configure(model="", base_url="")
        with pytest.raises(NoEndpoint):
            await agent.retry()
        assert [m.text for m in agent.turn.transcript] == ["1", "one"]


async def test_finishing_a_conversation_in_which_nothing_is_asked_asks_no_model(agents: Any, home: Path) -> None:
    agent = agents(say("one"), say("two"), say("never"))
    await agent.finish()
    await agent.ask("1")
    await agent.ask("2")
    agent.undo()
    assert [m.text for m in (await agent.finish()).transcript] == ["1", "one"]
    assert agent.undo() == 1
    kinds = [type(event).__name__ for event in Store(home).recall(agent.session_id)]
    assert kinds == ["Opened", *("Asked", "Replied", "Final") * 2, "Undone", "Undone"]
    agent.branch()
    assert (await agent.finish()).transcript == ()


async def test_a_session_is_found_again_by_its_id_or_as_the_last(agents: Any, home: Path) -> None:
    agent = agents(say("one"))
    await agent.ask("1")
    agent.close()
    again = agents(say("two"), session=agent.session_id)
    assert [m.text for m in again.turn.transcript] == ["1", "one"]
    assert again.usage == agent.usage
    with pytest.raises(HermesError, match="nope"):
        again.resume("nope")
    assert again.session_id == agent.session_id


async def test_one_process_at_a_time_acts_in_a_session(agents: Any) -> None:
    agent = agents(say("one"))
    await agent.ask("1")
    with pytest.raises(HermesError, match=str(os.getpid())):
        agents(say("two"), session=agent.session_id)


async def test_a_turn_out_of_time_ends_with_what_was_done(agents: Any) -> None:
    agent = agents(call("price", {"sku": "a"}), stall("slow", after=1, seconds=60), clock=FastClock(real=0.0))
    turn = await agent.ask("q", timeout=30)
    assert turn.outcome in {"budget_exhausted", "completed"}
    assert turn.text


async def test_a_stop_keeps_what_was_seen(agents: Any) -> None:
    agent = agents(stall(["half ", "an answer"], after=1, seconds=3600))
    texts = []
    async for event in agent.stream("q"):
        texts.append(getattr(event, "text", ""))
        if texts[-1] == "half ":
            agent.stop()
    assert agent.turn.outcome == "interrupted"
    assert agent.turn.messages[-1] == Assistant("half ")
    assert any(isinstance(event, Interrupted) for event in agent.turn.events)


class Counting(MemoryLog):
    """Counts how often a disk would be waited for."""

    waits = 0

    def append(self, session_id: str, *events: Kept) -> None:
        self.waits += 1
        super().append(session_id, *events)


async def test_a_stop_among_very_many_calls_waits_for_the_disk_once() -> None:
    log = Counting()
    agent = Agent(ScriptedModel([calls([("price", {"sku": "abc"})] * 500)]), [price], log=log, tool_workers=1)
    stopped_at = 0
    async for event in agent.stream("Go"):
        if isinstance(event, Started):
            agent.stop()
        if isinstance(event, Interrupted):
            stopped_at = log.waits
    assert agent.turn.outcome == "interrupted"
    check_whole(agent.turn.messages)
    assert len([event for event in log.recall(agent.session_id) if isinstance(event, Observed)]) == 500
    assert stopped_at
    assert log.waits - stopped_at == 1
    agent.close()


def test_plain_code_can_ask_too(agents: Any) -> None:
    agent = agents(say("one"), say("two"))
    assert agent.ask_sync("1").text == "one"

    async def within_a_running_loop() -> str:
        return str(agent.ask_sync("2").text)

    assert asyncio.run(within_a_running_loop()) == "two"


async def within_a_cell(agent: Agent) -> str:
    """What a cell does that calls plain code: the loop is busy with the cell itself."""
    return str(agent.ask_sync("q").outcome)


def test_ctrl_c_stops_a_turn_that_plain_code_waits_for_in_a_cell(agents: Any) -> None:
    agent = agents(stall(["half ", "an answer"], after=1, seconds=3600), say("fine"))
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    loop = asyncio.new_event_loop()  # not `asyncio.run`, which takes SIGINT for itself; a kernel does not
    interrupt.start()
    try:
        assert loop.run_until_complete(within_a_cell(agent)) == "interrupted"
    finally:
        loop.close()
    assert agent.turn.text == "half "
    assert not agent.busy
    assert agent.ask_sync("again").text == "fine"


def closed_while(agent: Agent, ask: Callable[[], str], seconds: float) -> list[str]:
    """What `ask` told in another thread within `seconds` of the agent being closed beneath it."""
    outcomes: list[str] = []
    asking = threading.Thread(target=lambda: outcomes.append(ask()))
    asking.start()
    while not agent.turn.events or not agent.busy:
        time.sleep(0.01)
    agent.close()
    asking.join(seconds)
    return outcomes


def test_closing_ends_a_turn_that_another_thread_waits_for(agents: Any, home: Path) -> None:
    agent = agents(stall(["half ", "an answer"], after=1, seconds=3600))
    assert closed_while(agent, lambda: asyncio.run(within_a_cell(agent)), 10) == ["interrupted"]
    assert isinstance(Store(home).recall(agent.session_id)[-1], Final)


def test_who_asks_from_a_thread_while_a_turn_runs_in_another_is_told_so(home: Path) -> None:
    steps = iter((stall(["half ", "an answer"], after=1, seconds=3600), say("fine")))
    asked = threading.Event()
    outcomes: list[str] = []

    def answer(_: CallModel) -> Step:
        asked.set()
        return next(steps)

    with closing(Agent(ScriptedModel(answer), home=home)) as agent:
        asking = threading.Thread(target=lambda: outcomes.append(agent.ask_sync("long").outcome))
        asking.start()
        assert asked.wait(60), outcomes
        for ask in (lambda: agent.ask_sync("short"), agent.compress_sync):
            with pytest.raises(HermesError, match="A turn is running"):
                ask()
        agent.stop()
        asking.join(60)
        assert outcomes == ["interrupted"]
        assert agent.ask_sync("and now?").text == "fine"


def asked_in_a_script(agent: Agent) -> str:
    return str(agent.ask_sync("go").text)


def asked_in_a_cell(agent: Agent) -> str:
    async def cell() -> str:
        return asked_in_a_script(agent)

    return asyncio.run(cell())


@pytest.mark.timeout(60)
@pytest.mark.parametrize("asked", [asked_in_a_script, asked_in_a_cell])
def test_a_turn_that_asks_its_own_agent_is_told_that_it_runs(home: Path, asked: Any) -> None:
    told: list[str] = []

    @tool
    async def again() -> None:
        """Ask once more."""
        for ask in (
            lambda: agent.ask_sync("you?"),
            lambda: agent.map_sync("Is $text so?", ["a"]),
            lambda: agent.delegate_sync("this"),
            agent.compress_sync,
        ):
            with pytest.raises(HermesError) as refused:
                ask()
            told.append(str(refused.value))

    with closing(Agent(ScriptedModel([call("again", {}), say("done")]), [again], home=home)) as agent:
        assert asked(agent) == "done"
    assert len(told) == 4
    assert all(line.startswith("A turn is running in this session") for line in told)


def test_an_agent_that_is_closed_while_plain_code_waits_for_it_ends_the_turn_and_frees_the_session(home: Path) -> None:
    agent = Agent(ScriptedModel([stall(["half ", "an answer"], after=1, seconds=3600)]), home=home)
    assert closed_while(agent, lambda: agent.ask_sync("long").outcome, 60) == ["interrupted"]
    with closing(Agent(ScriptedModel([say("fine")]), home=home, session=agent.session_id)) as other:
        assert other.ask_sync("and now?").text == "fine"


@pytest.mark.parametrize("asked", [asked_in_a_script, asked_in_a_cell])
def test_an_agent_that_a_tool_of_its_own_closes_ends_its_turn_and_frees_the_session(home: Path, asked: Any) -> None:
    @tool
    async def leave() -> None:
        """Close the agent."""
        agent.close()

    agent = Agent(ScriptedModel([call("leave", {}), say("still here")]), [leave], home=home)
    asked(agent)
    assert agent.turn.outcome == "interrupted"
    assert "hermes" not in {thread.name for thread in threading.enumerate()}
    Agent(ScriptedModel([]), home=home, session=agent.session_id).close()


SERVICE = """
import asyncio, os, signal, sys
from hermes_kernel import Agent
from hermes_kernel.testing import ScriptedModel, stall

def answer(_):
    asyncio.get_running_loop().call_later(0.2, os.kill, os.getpid(), signal.SIGTERM)
    return stall(["half ", "an answer"], after=1, seconds=3600)

def leave(*_):
    agent.close()
    sys.exit(0)

signal.signal(signal.SIGTERM, leave)
agent = Agent(ScriptedModel(answer), home=sys.argv[1])
print(agent.session_id, flush=True)
agent.ask_sync("long")
"""


def test_a_service_that_closes_its_agent_when_it_is_told_to_end_ends_without_a_word(home: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SERVICE, str(home)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    Agent(ScriptedModel([]), home=home, session=ended.stdout.strip()).close()
    assert isinstance(Store(home).recall(ended.stdout.strip())[-1], Final)


async def test_secrets_do_not_reach_the_conversation(agents: Any, home: Path) -> None:
    @tool
    def leak() -> str:
        """Leak."""
        return "the key is s3cr3t-value-of-mine"

    agent = agents(call("leak", {}), say("ok"), api_key="s3cr3t-value-of-mine")
    agent.add(leak)
    turn = await agent.ask("my key is s3cr3t-value-of-mine")
    assert "s3cr3t" not in repr((turn.events, turn.messages))
    agent.close()
    for path in home.rglob("*"):
        if path.is_file():
            assert b"s3cr3t-value" not in path.read_bytes(), path


async def test_a_budget_of_five_is_five_calls_and_one_grace_call_without_tools(home: Path) -> None:
    with Server(forever(call("price", {"sku": "a"}))) as server:
        async with Agent("any", [price], base_url=server.url, home=home) as agent:
            turn = await agent.ask("go", budget=5)
        assert len(server.requests) == 6
        assert "tools" not in server.requests[-1].body
        assert turn.outcome == "budget_exhausted"
        assert "price" in turn.text


async def test_leaving_while_a_turn_runs_stops_it_before_its_connection_is_closed(home: Path) -> None:
    with Server(stall(["half ", "an answer"], after=1, seconds=3600)) as server:
        async with Agent("any", base_url=server.url, home=home) as agent:
            begun = asyncio.Event()

            async def ask() -> None:
                async for event in agent.stream("q"):
                    if isinstance(event, TextDelta):
                        begun.set()

            asking = asyncio.create_task(ask())
            await begun.wait()
        await asking
    assert [type(event) for event in agent.turn.events] == [Asked, Interrupted, Final]
    assert agent.turn.text == "half "


async def test_an_answer_cut_three_times_is_joined_without_a_seam(agents: Any) -> None:
    agent = agents(cut_off("The qui"), cut_off("ck bro"), cut_off("wn f"), say("ox."))
    assert (await agent.ask("q")).text == "The quick brown fox."


async def test_settings_can_be_changed_between_turns(agents: Any) -> None:
    agent = agents(forever(calls([("price", {"sku": "a"})])))
    agent.configure(max_iterations=2)
    assert (await agent.ask("q")).budget.limit == 2
    with pytest.raises(ValueError, match="max_iterations"):
        agent.configure(max_iterations=0)
    with pytest.raises(ValueError, match="home cannot change"):
        agent.configure(home="/elsewhere")


async def test_the_full_text_of_a_long_result_is_kept_without_secrets(agents: Any, home: Path) -> None:
    @tool
    def leak() -> str:
        """Leak."""
        return "x" * 60_000 + " the key is s3cr3t-value-of-mine " + "y" * 60_000

    agent = agents(call("leak", {}), say("ok"), api_key="s3cr3t-value-of-mine")
    agent.add(leak)
    turn = await agent.ask("go")
    kept = next(event.kept_at for event in turn.events if isinstance(event, Observed))
    text = Path(kept).read_text()
    assert len(text) > 120_000
    assert "s3cr3t" not in text


async def test_tools_work_where_the_person_is(agents: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here.txt").write_text("found me")
    agent = agents(call("read_file", {"path": "here.txt"}), say("ok"))
    monkeypatch.chdir(tmp_path)
    turn = await agent.ask("read it")
    assert "found me" in next(m.text for m in turn.messages if isinstance(m, Observation))


def test_the_tools_that_a_job_may_name_and_a_subagent_goes_without_are_those_an_agent_has(agents: Any) -> None:
    assert set(agents(say("ok")).tools.names()) == BUILT_IN | {price.__name__}
    assert WITHHELD < BUILT_IN
