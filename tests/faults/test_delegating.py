"""Teams over a real server that counts what it is asked: bounds, stops, and what is left when one of them goes wrong."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, tool
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Event, Final, Interrupted, Leased, Observed, Returned, Started, Subagent
from hermes_kernel.core.messages import Observation
from hermes_kernel.core.turn import decide, recall
from hermes_kernel.testing import (
    FastClock,
    Request,
    ScriptedModel,
    Server,
    Step,
    call,
    calls,
    garbled,
    hang_up,
    late,
    login_page,
    no_choices,
    say,
    stall,
    status,
)
from hermes_kernel.world.store import Store
from tests.faults.played import KEY, hung_up, polite, whole
from tests.soon import SOON

WEEK = 7 * 86_400


@tool
def price(sku: str) -> str:
    """Look up a price."""
    return f"{sku}: 3"


@tool
def nap(seconds: float) -> str:
    """Sleep, and cannot be woken."""
    time.sleep(seconds)
    return "slept"


def who(request: Request) -> str:
    """The task of the subagent that asks; nothing for the parent."""
    first, second = request.messages[:2]
    return str(second["content"]).split("\n")[0] if "You are a subagent" in str(first["content"]) else ""


def results(request: Request) -> list[str]:
    return [str(message["content"]) for message in request.messages if message["role"] == "tool"]


def team(tasks: list[Any], child: Callable[[str, Request], Step]) -> Callable[[Request], Step]:
    """The parent hands the tasks over once and then ends; each subagent does what `child` says."""

    def answer(request: Request) -> Step:
        if name := who(request):
            return child(name, request)
        return say("All done.") if results(request) else call("delegate", {"tasks": tasks})

    return answer


@asynccontextmanager
async def serving(
    home: Path, script: Callable[[Request], Step], clock: Any = None, **settings: Any
) -> AsyncIterator[tuple[Agent, Server]]:
    settings = {"approvals": "deny", "delegate_seconds": WEEK} | settings
    with Server(script) as server:
        agent = Agent("m", [price, nap], clock=clock, home=home, base_url=server.url, api_key=KEY, **settings)
        async with agent:
            yield agent, server
        await hung_up(server)
    for request in server.requests:
        polite(request)


async def played(agent: Agent, prompt: str = "go") -> list[Event]:
    return [event async for event in agent.stream(prompt)]


def told(agent: Agent) -> str:
    (text,) = [m.text for m in agent.turn.messages if isinstance(m, Observation)]
    return text


def logs(home: Path, events: list[Event]) -> dict[str, list[Any]]:
    """The facts of every subagent, as another process would find them."""
    store = Store(home)
    try:
        return {event.lease: store.recall(event.lease) for event in events if isinstance(event, Leased)}
    finally:
        store.close()


def check_closed(home: Path, agent: Agent, events: list[Event]) -> None:
    """All of the tree is over, on disk too, and nothing is lent any more."""
    whole(agent.turn.transcript)
    assert agent.turn.budget.leases == ()
    assert Counter(e.lease for e in events if isinstance(e, Leased)) == Counter(
        e.lease for e in events if isinstance(e, Returned)
    )
    for facts in logs(home, events).values():
        child = recall(facts)
        assert isinstance(facts[-1], Final)
        assert decide(child) is None
        whole(child.transcript)


# --- the budget


async def test_thirty_calls_are_thirty_calls_though_five_subagents_want_twenty_each(tmp_path: Path) -> None:
    def child(name: str, request: Request) -> Step:
        return call("price", {"sku": name}) if request.body.get("tools") else say(f"{name}: as far as I came")

    tasks = [{"task": f"part {n}", "budget": 20} for n in range(5)]
    async with serving(tmp_path, team(tasks, child), max_iterations=30) as (agent, server):
        events = await played(agent)
    made = Counter(map(who, server.requests))
    leased = {event.task: event.calls for event in events if isinstance(event, Leased)}
    used = {event.lease: event.used for event in events if isinstance(event, Returned)}
    names = {event.lease: event.task for event in events if isinstance(event, Leased)}
    print(f"leases {leased}, requests {dict(made)}, {len(server.requests)} in all")
    assert len(server.requests) <= 30 + 1
    assert len(leased) == 5
    assert sum(leased.values()) < 30
    for lease, name in names.items():
        assert made[name] == used[lease] == leased[name], "its closing words are within its lease"
    assert agent.turn.budget.spent == len(server.requests)
    assert agent.turn.outcome == "completed"
    assert told(agent).count("as far as I came") == 5
    check_closed(tmp_path, agent, events)


async def test_a_parent_that_never_ends_makes_no_more_than_its_limit_and_its_closing_words(tmp_path: Path) -> None:
    def answer(request: Request) -> Step:
        if not request.body.get("tools"):
            return say("That is all.")
        if who(request):
            return call("price", {"sku": "x"})
        return call("delegate", {"tasks": [{"task": f"a {len(request.messages)}", "budget": 20}, "b", "c", "d", "e"]})

    async with serving(tmp_path, answer, max_iterations=30) as (agent, server):
        events = await played(agent)
    assert len(server.requests) <= 30 + 1
    assert agent.turn.outcome == "budget_exhausted"
    assert agent.turn.text == "That is all."
    check_closed(tmp_path, agent, events)


async def test_whoever_leaves_a_stream_leaves_no_lease_behind(tmp_path: Path) -> None:
    def answer(request: Request) -> Step:
        child = "You are a subagent" in str(request.messages[0]["content"])
        return late(say("Two."), 30) if child else call("delegate", {"tasks": [{"task": "Count."}, {"task": "Look."}]})

    with Server(answer) as server:
        async with Agent("m", base_url=server.url, api_key=KEY, home=tmp_path, learning=False) as agent:
            async with aclosing(agent.stream("Go.")) as events:
                async for event in events:
                    if isinstance(event, Subagent):
                        break
            left = recall(agent.store.recall(agent.session_id))
            assert (agent.turn.budget.leases, agent.turn.outcome) == ((), "interrupted")
            assert left.budget.leases == ()


async def test_what_was_lent_and_not_used_comes_back_and_is_used_by_others(tmp_path: Path) -> None:
    steps = [
        call("delegate", {"tasks": ["quick"]}),
        call("delegate", {"tasks": [{"task": "long", "budget": 20}]}),
        say("done"),
    ]

    def answer(request: Request) -> Step:
        if who(request) == "quick":
            return say("done at once")
        if who(request) == "long":
            return call("price", {"sku": "x"}) if request.body.get("tools") else say("end")
        return steps[len(results(request))]

    async with serving(tmp_path, answer, max_iterations=30) as (agent, server):
        events = await played(agent)
    assert [(e.task, e.calls) for e in events if isinstance(e, Leased)] == [("quick", 14), ("long", 20)]
    assert [e.used for e in events if isinstance(e, Returned)] == [1, 20]
    assert len(server.requests) == 24 == agent.turn.budget.spent


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_a_tree_does_the_calls_of_all_are_within_the_roots_limit(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    limit = dice.randrange(3, 40)

    def answer(asked: CallModel) -> Step:
        if not asked.tools:
            return say("closing")
        tasks = [
            {"task": "t", "budget": dice.randrange(2, 30)} if dice.random() < 0.5 else "t"
            for _ in range(dice.randrange(1, 7))
        ]
        hands_over = ("delegate", {"tasks": tasks})
        return dice.choice([call(*hands_over), calls([hands_over, hands_over]), call("price", {"sku": "x"}), say("ok")])

    model = ScriptedModel(answer)
    agent = Agent(model, [price], home=tmp_path, max_iterations=limit, delegate_depth=3, delegate_workers=3)
    async with agent:
        events = await played(agent)
    assert len(model.calls) <= limit + 1
    check_closed(tmp_path, agent, events)


# --- one goes wrong, the others do not


WRONG = {
    "a server error": status(500),
    "a key that is refused": status(401),
    "a login page": login_page(),
    "garbage": garbled(["Some ", "words."], after=1),
    "a stall": stall(["Some words.", " More."], after=1, seconds=60),
    "nothing before the first byte": late(say("never"), 60),
    "a connection that breaks": hang_up(),
    "no choices": no_choices(),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_one_subagents_trouble_is_in_its_report_and_the_others_finish(tmp_path: Path, wrong: str) -> None:
    def child(name: str, request: Request) -> Step:
        if name == "bad":
            return WRONG[wrong]
        return say(f"{name} is fine") if results(request) else call("price", {"sku": name})

    patience = {"stale_seconds": 0.3, "first_byte_seconds": 0.3, "max_retries": 1}
    patience["delegate_seconds"] = 86_400  # a clock that is fast has half an hour in two seconds
    script = team(["one", "bad", "two"], child)
    async with serving(tmp_path, script, FastClock(), max_iterations=40, **patience) as (agent, _):
        events = await played(agent)
    text = told(agent)
    assert "| one is fine" in text
    assert "| two is fine" in text
    (line,) = [line for line in text.splitlines() if line.startswith('2. "bad": ')]
    assert "completed" not in line
    assert "Reason: " in text
    assert agent.turn.outcome == "completed"
    check_closed(tmp_path, agent, events)


async def test_a_subagent_that_is_late_brings_back_what_it_has(tmp_path: Path) -> None:
    def child(name: str, request: Request) -> Step:
        if name == "late" and results(request):
            return stall(["I have found the first half", " and the rest."], after=1, seconds=60)
        return say(f"{name} is fine") if results(request) else call("price", {"sku": name})

    async with serving(tmp_path, team(["one", "late"], child), delegate_seconds=1) as (agent, _):
        events = await played(agent)
    text = told(agent)
    assert "| one is fine" in text
    assert "| I have found the first half" in text
    assert "Reason: the 1 s that the group may take were over" in text
    assert "Tools called: price × 1" in text
    assert agent.turn.outcome == "completed"
    check_closed(tmp_path, agent, events)


# --- stop


def napping(_: str, request: Request) -> Step:
    return call("nap", {"seconds": 1.5})


def computing(_: str, request: Request) -> Step:
    return call("python", {"code": "import time\nprint('begun', flush=True)\ntime.sleep(60)"})


PHASES: dict[str, tuple[Callable[[str, Request], Step], Callable[[Event], bool]]] = {
    "before the first byte": (lambda *_: late(say("never"), 60), lambda e: type(e).__name__ == "Calling"),
    "streaming": (lambda *_: say(["word "] * 2000, gap=0.03), lambda e: type(e).__name__ == "TextDelta"),
    "in a silent stream": (lambda *_: stall(["Some ", "more"], after=1, seconds=60), lambda e: "Some" in str(e)),
    "in a backoff": (lambda *_: status(503), lambda e: type(e).__name__ == "Retrying"),
    "in a tool that cannot be ended": (napping, lambda e: isinstance(e, Started)),
    "in a command": (lambda *_: call("terminal", {"command": "sleep 60"}), lambda e: isinstance(e, Started)),
}


async def stopped(agent: Agent, reached: Callable[[Event], bool], children: int, settle: float) -> tuple[float, list]:
    """Stop once all subagents are there; how many seconds it took until the turn was over, and its events."""
    there: set[str] = set()
    events: list[Event] = []
    pressed = []

    def press() -> None:
        pressed.append(time.perf_counter())
        agent.stop()

    async for event in agent.stream("go"):
        events.append(event)
        if isinstance(event, Subagent) and reached(event.event):
            there.add(event.lease)
            if len(there) == children and events and not pressed:
                there.add("pressed")
                threading.Timer(settle, press).start()
    return time.perf_counter() - pressed[0], events


@pytest.mark.parametrize("phase", PHASES)
async def test_one_press_stops_the_tree_in_every_phase(tmp_path: Path, phase: str) -> None:
    child, reached = PHASES[phase]
    tasks = [f"part {n}" for n in range(5)]
    took = []
    for n in range(int(os.environ.get("HERMES_TEST_TIMES", "1"))):
        home = tmp_path / str(n)
        async with serving(home, team(tasks, child), max_iterations=60, approvals="allow") as (agent, _):
            seconds, events = await stopped(agent, reached, 5, 0.05)
            took.append(seconds)
            assert agent.turn.outcome == "interrupted"
            assert isinstance(events[-1], Final)
            assert [e.by for e in events if isinstance(e, Interrupted)] == ["person"]
            check_closed(home, agent, events)
            assert {recall(facts).outcome for facts in logs(home, events).values()} == {"interrupted"}
            assert len([e for e in events if isinstance(e, Observed)]) == 1
            assert (await agent.ask("still there?", tools=[])).outcome == "completed"
    print(f"{phase}: {sorted(round(each, 3) for each in took)} s")
    assert max(took) < SOON


async def test_one_press_stops_a_tree_whose_members_compute_in_kernels_of_their_own(tmp_path: Path) -> None:
    def busy(event: Event) -> bool:
        return isinstance(event, Started)

    def kernels() -> set[bytes]:
        found = subprocess.run(["pgrep", "-P", str(os.getpid()), "-f", "ipykernel"], capture_output=True, check=False)
        return set(found.stdout.split())

    before = kernels()
    script = team([f"part {n}" for n in range(2)], computing)
    async with serving(tmp_path, script, max_iterations=60, approvals="allow") as (agent, _):
        seconds, events = await stopped(agent, busy, 2, 1.5)
        print(f"in their own kernels: {seconds:.3f} s")
        assert seconds < SOON
        check_closed(tmp_path, agent, events)
    for _ in range(200):
        if not kernels() - before:
            break
        await asyncio.sleep(0.05)
    assert not kernels() - before


async def test_one_press_stops_a_tree_of_fourteen_in_three_levels(tmp_path: Path) -> None:
    def answer(request: Request) -> Step:
        deepest = "delegate" not in [each["function"]["name"] for each in request.body["tools"]]
        return late(say("never"), 60) if deepest else call("delegate", {"tasks": ["a", "b"]})

    def depth(event: Event) -> int:
        return 1 + depth(event.event) if isinstance(event, Subagent) else 0

    pressed = 0.0
    async with serving(tmp_path, answer, delegate_depth=3) as (agent, server):
        async for event in agent.stream("go"):
            if depth(event) == 3 and not pressed and len(server.requests) == 1 + 2 + 4 + 8:
                pressed = time.perf_counter()
                agent.stop()
        print(f"three levels: {time.perf_counter() - pressed:.3f} s")
        assert agent.turn.outcome == "interrupted"
        assert agent.turn.budget.leases == ()
    store = Store(tmp_path)
    rows = store.sessions(50)
    assert len(rows) == 1 + 2 + 4 + 8
    for row in rows:
        facts = store.recall(row.id)
        assert isinstance(facts[-1], Final)
        assert recall(facts).outcome == "interrupted"
        whole(recall(facts).transcript)
    store.close()


async def test_what_subagents_had_when_they_were_stopped_is_the_calls_result(tmp_path: Path) -> None:
    def child(name: str, request: Request) -> Step:
        return say("quick: done") if name == "quick" else stall(["Half of it", "."], after=1, seconds=60)

    for _ in range(5):  # on a machine that stalls for longer than the grace of 0.16 s, a stop waits for nobody
        async with serving(tmp_path, team(["quick", "slow"], child)) as (agent, _):
            await stopped(agent, lambda event: "Half of it" in str(event), 1, 0.2)
            text = told(agent)
        if "quick" in text:
            break
    assert "| quick: done" in text
    assert "interrupted" in text
    assert "| Half of it" in text
    store = Store(tmp_path)
    assert isinstance(store.recall(agent.session_id)[-1], Final)
    assert len([fact for fact in store.recall(agent.session_id) if isinstance(fact, Returned)]) == 2
    store.close()


# --- the process dies


VICTIM = """
import asyncio, sys
from hermes_kernel import Agent
async def main():
    agent = Agent("m", home=sys.argv[1], base_url=sys.argv[2], api_key="k", max_iterations=30)
    print(agent.session_id, flush=True)
    await agent.ask("go")
asyncio.run(main())
"""


async def test_a_kill_leaves_subagents_that_are_closed_on_the_next_look_and_their_unused_calls_come_back(
    tmp_path: Path,
) -> None:
    def child(name: str, request: Request) -> Step:
        return late(say("never"), 60) if results(request) else call("todo", {"items": [name]})

    def answer(request: Request) -> Step:
        if name := who(request):
            return child(name, request)
        return say("I go on alone.") if results(request) else call("delegate", {"tasks": ["a", "b"]})

    with Server(answer) as server:
        command = [sys.executable, "-c", textwrap.dedent(VICTIM), str(tmp_path), server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as victim:
            assert victim.stdout is not None
            session = victim.stdout.readline().strip()
            assert server.await_requests(5)
            victim.send_signal(signal.SIGKILL)
        async with Agent("m", home=tmp_path, base_url=server.url, api_key="k", session=session) as agent:
            facts = [fact for fact in agent.turn.events if isinstance(fact, Leased | Returned)]
            assert [type(fact) for fact in facts] == [Leased, Leased, Returned, Returned]
            assert [fact.used for fact in facts if isinstance(fact, Returned)] == [2, 2]
            assert agent.turn.budget.leases == ()
            turn = await agent.finish()
            assert turn.text == "I go on alone."
            assert "Outcome unknown" in told(agent)
            assert turn.budget.spent == 1 + 4 + 1 == len(server.requests)
            check_closed(tmp_path, agent, list(turn.events))
            assert (await agent.ask("next", tools=[])).budget.leases == ()
