"""What is told in a spec: the same events in the same order, whoever was faster; and they run at once all the same."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, Outcome, tool
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.compression import SYSTEM
from hermes_kernel.core.events import (
    Approved,
    Compressed,
    Compressing,
    Event,
    Interrupted,
    Leased,
    Observed,
    Returned,
    Started,
    Subagent,
    is_kept,
)
from hermes_kernel.core.messages import Observation, User
from hermes_kernel.delegating.report import Report
from hermes_kernel.testing import ScriptedModel, Step, calls, late, say, status
from hermes_kernel.world.spec import START
from hermes_kernel.world.store import Store
from tests.contracts.talks import WINDOW, Talk
from tests.soon import SOON

Script = Callable[[CallModel], Step]
NUMBERED = re.compile(r"call_\d+_")
MOMENT = 0.12  # seconds that something takes at most


class Pace:
    """Who is faster: those with small numbers, or those with large ones."""

    small = True

    @classmethod
    def seconds(cls, name: str) -> float:
        """What the one of this name takes."""
        share = int("0" + "".join(filter(str.isdigit, name))) % 10 / 10
        return MOMENT * (share if cls.small else 1 - share)


@tool
def slow(name: str) -> str:
    """Wait for a while."""
    time.sleep(Pace.seconds(name))
    return f"{name} done"


@tool
async def calm(name: str) -> str:
    """Wait for a while, without a thread."""
    await asyncio.sleep(Pace.seconds(name))
    return f"{name} done"


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    with ExitStack() as leaving:

        def make(script: Script | ScriptedModel, **options: Any) -> Agent:
            home = tmp_path / str(len(list(tmp_path.iterdir())))
            given: dict[str, Any] = {"home": home, "spec": True, "approvals": "allow", "retry_base_seconds": 0.02}
            model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
            agent = Agent(model, [slow, calm], **(given | options))
            leaving.callback(agent.close)
            return agent

        yield make


def asked(call: CallModel) -> str:
    return next(message.text for message in reversed(call.transcript) if isinstance(message, User))


def answered(call: CallModel) -> bool:
    return isinstance(call.transcript[-1], Observation)


def is_child(call: CallModel) -> bool:
    return "You are a subagent" in call.system


def paced(call: CallModel, step: Step) -> Step:
    return late(step, Pace.seconds(asked(call)))


async def told(agent: Agent, prompt: str = "go") -> list[str]:
    """What is told of a turn, each fact in words. A model numbers its calls as it is asked."""
    return [NUMBERED.sub("call_", repr(event)) async for event in agent.stream(prompt) if _counts(event)]


def _counts(event: Event) -> bool:
    return is_kept(event) or (isinstance(event, Subagent) and _counts(event.event))


def stored(agent: Agent) -> list[tuple[str, float, str]]:
    """Every fact of its home, with its time, in the order of sessions."""
    store = agent.store
    assert isinstance(store, Store)
    sessions = sorted(row.id for row in store.sessions(100))
    return [
        (record.session, record.t, NUMBERED.sub("call_", str(record.fact)).replace(str(agent.settings.home), "HOME"))
        for session in sessions
        for record in store.records(session)
    ]


async def same(make: Callable[[], Agent]) -> list[str]:
    """What is told, which is the same whoever is faster, and so is what is kept."""
    runs = []
    for Pace.small in (True, False):
        agent = make()
        runs.append((await told(agent), stored(agent)))
    assert runs[0] == runs[1]
    return runs[0][0]


# --- tools


def batch(*wanted: tuple[str, dict[str, Any]]) -> Script:
    return lambda asked: say("Done.") if answered(asked) else calls(list(wanted))


async def test_tools_of_one_reply_are_told_in_the_order_of_the_calls(agents: Any) -> None:
    wanted = [(("slow", "calm")[n % 2], {"name": f"n{n}"}) for n in range(6)]
    events = await same(lambda: agents(batch(*wanted)))
    started = [event for event in events if event.startswith("Started")]
    observed = [event for event in events if event.startswith("Observed")]
    assert [re.findall(r"call__?(\d)", event) for event in started] == [[str(n)] for n in range(6)]
    assert [re.findall(r"n(\d) done", event) for event in observed] == [[str(n)] for n in range(6)]
    assert events.index(started[-1]) < events.index(observed[0])


async def test_which_of_the_same_calls_is_noted_does_not_depend_on_which_was_faster(agents: Any) -> None:
    """A fourth one is noted, and a success forgets what failed: in the order of the calls."""

    @tool
    async def varied(name: str) -> str:
        """Take longer each time, or less long."""
        varied_calls.append(name)
        await asyncio.sleep(Pace.seconds(f"{len(varied_calls) % 5}"))
        if name == "bad":
            raise ValueError(name)
        return name

    varied_calls: list[str] = []
    wanted = [("varied", {"name": name}) for name in ("good", "bad", "good", "bad", "good", "good")]

    def make() -> Agent:
        varied_calls.clear()
        agent = agents(batch(*wanted))
        agent.add(varied)
        return agent

    observed = [event for event in await same(make) if event.startswith("Observed")]
    assert ["made 4 times" in event for event in observed] == [False] * 5 + [True]


async def test_they_run_at_once_all_the_same(agents: Any) -> None:
    at_once = most = 0

    @tool
    async def counted(n: int) -> str:
        """Count."""
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return str(n)

    agent = agents(batch(*(("counted", {"n": n}) for n in range(8))))
    agent.add(counted)
    began = time.monotonic()
    await agent.ask("go")
    assert most == 8
    assert time.monotonic() - began < SOON
    assert [event.seconds for event in agent.turn.events if isinstance(event, Observed)] == [0.0] * 8


async def test_all_kinds_of_calls_together_are_told_in_the_same_order_each_time(agents: Any) -> None:
    """Those that wait for a place, those that must be alone, some that need approval, some that cannot be run."""
    wanted = [
        *(("slow", {"name": f"n{n}"}) for n in range(10)),
        ("python", {"code": "import time; time.sleep(0.05); print(1)"}),
        ("terminal", {"command": "rm -rf /tmp/there-is-no-such-thing-here"}),
        ("nothing", {}),
        ("calm", {"name": 3, "more": 4}),
        ("python", {"code": "print(2); object()"}),
        ("calm", {"name": "last"}),
    ]
    events = await same(lambda: agents(batch(*wanted)))
    observed = [int(re.findall(r"call__?(\d+)", event)[0]) for event in events if event.startswith("Observed")]
    assert observed == list(range(len(wanted)))
    assert sum(event.startswith("Approved") for event in events) == 1


async def test_what_is_refused_is_told_in_order_too(agents: Any) -> None:
    wanted = [
        ("terminal", {"command": "rm -rf /tmp/no-such-thing"}),
        ("slow", {"name": "n"}),
        ("python", {"code": "1"}),
    ]
    events = await same(lambda: agents(batch(*wanted), approvals="deny"))
    kinds = [event.partition("(")[0] for event in events]
    names = [kind.__name__ for kind in (Approved, Started, Observed)]
    assert [kind for kind in kinds if kind in names] == [
        "Started", "Approved", "Started", "Observed", "Observed", "Observed",
    ]  # fmt: skip


async def test_a_stop_leaves_nothing_out_that_has_happened(agents: Any) -> None:
    @tool
    async def endless() -> str:
        """Never end."""
        await asyncio.sleep(60)
        return ""

    agent = agents(batch(("calm", {"name": "n"}), ("endless", {})))
    agent.add(endless)
    asyncio.get_running_loop().call_later(2 * MOMENT + 0.1, agent.stop)
    began = time.monotonic()
    turn = await agent.ask("go")
    assert time.monotonic() - began < SOON
    assert turn.outcome is Outcome.INTERRUPTED
    assert next(event.text for event in turn.events if isinstance(event, Observed)) == "n done"
    assert any(isinstance(event, Interrupted) for event in turn.events)


async def test_a_tool_that_hangs_ends_at_its_deadline_and_one_that_takes_long_does_not(agents: Any) -> None:
    @tool(seconds=0.2)
    async def hangs() -> str:
        """Never end."""
        await asyncio.sleep(60)
        return ""

    @tool
    async def long() -> str:
        """Take a while."""
        await asyncio.sleep(0.6)
        return "there"

    agent = agents(batch(("hangs", {}), ("long", {})))
    agent.add(hangs)
    agent.add(long)
    began = time.monotonic()
    turn = await agent.ask("go")
    assert 0.5 < time.monotonic() - began < 5
    first, second = (event.text for event in turn.events if isinstance(event, Observed))
    assert "ended at its deadline of 0.2 s" in first
    assert second == "there"
    assert agent.now() == START + 1


async def test_the_time_limit_of_a_turn_counts_real_time(agents: Any) -> None:
    agent = agents(lambda _: late(say("Never."), 60))
    began = time.monotonic()
    turn = await agent.ask("go", timeout=0.3)
    assert time.monotonic() - began < 5
    assert "time limit" in turn.text
    assert agent.now() == START + 1


# --- subagents


def team(many: int, child: Script, groups: int = 1) -> Script:
    def answer(asked: CallModel) -> Step:
        if is_child(asked):
            return child(asked)
        tasks = [{"tasks": [f"part {group} {n}" for n in range(many)]} for group in range(groups)]
        return say("Done.") if answered(asked) else calls([("delegate", each) for each in tasks])

    return answer


def works(call: CallModel) -> Step:
    """Some look something up first; all take their time."""
    odd = int(asked(call)[-1]) % 2
    return paced(call, calls([("calm", {"name": asked(call)})]) if odd and not answered(call) else say("Done."))


async def test_subagents_are_told_in_the_order_of_their_tasks(agents: Any) -> None:
    events = await same(lambda: agents(team(6, works)))
    returned = [event for event in events if event.startswith("Returned")]
    leased = [event for event in events if event.startswith("Leased")]
    ids = [re.findall("'([0-9a-f]{32})'", event)[0] for event in leased]
    assert [re.findall("'([0-9a-f]{32})'", event)[0] for event in returned] == ids == sorted(ids)
    spoken = [re.findall("'([0-9a-f]{32})'", event)[0] for event in events if event.startswith("Subagent")]
    assert spoken == sorted(spoken)
    assert events.index(leased[-1]) < events.index(returned[0])


async def test_subagents_work_at_once_all_the_same(agents: Any) -> None:
    agent = agents(team(8, lambda _: late(say("Done."), 1)))
    began = time.monotonic()
    await agent.ask("go")
    assert time.monotonic() - began < SOON


async def test_what_the_later_ones_are_lent_does_not_depend_on_who_was_faster(agents: Any) -> None:
    """Ten tasks, three places, few calls: what comes back early is lent again."""
    events = await same(lambda: agents(team(10, works), delegate_workers=3, max_iterations=30))
    assert sum(event.startswith("Leased") for event in events) == 10


async def test_two_groups_of_one_reply_are_told_one_after_the_other(agents: Any) -> None:
    events = await same(lambda: agents(team(3, works, groups=2)))
    groups = [event for event in events if event.startswith(("Leased", "Returned"))]
    assert [event.partition("(")[0] for event in groups] == 2 * (["Leased"] * 3 + ["Returned"] * 3)


async def test_what_a_later_group_is_lent_does_not_depend_on_when_an_earlier_one_was_done(agents: Any) -> None:
    """It has what the earlier one leaves, also where that came back late: five calls are enough for all, in turns."""
    events = await same(lambda: agents(team(1, works, groups=3), max_iterations=6))
    lent = [event for event in events if event.startswith("Leased")]
    assert [re.findall(r"calls=(\d)", event)[0] for event in lent] == ["2", "2", "2"]


async def test_a_person_s_own_subagents_too(agents: Any) -> None:
    runs = []
    for Pace.small in (True, False):
        agent = agents(team(5, works))
        seen: list[Event] = []
        reports = await agent.delegate([f"part {n}" for n in range(5)], watch=seen.append)
        facts = [NUMBERED.sub("call_", repr(event)) for event in seen if _counts(event)]
        runs.append((facts, [(report.text, report.session_id) for report in reports], stored(agent)))
    assert runs[0] == runs[1]


async def test_none_is_later_because_another_had_to_wait_for_its_endpoint(agents: Any) -> None:
    """Each has a time of its own until it is told; then the turn is as late as the latest of them."""

    class Busy(ScriptedModel):
        def __init__(self) -> None:
            super().__init__(team(3, self._answer))

        def _answer(self, call: CallModel) -> Step:
            first = sum(asked(call) == asked(other) for other in self.calls) == 1
            return paced(call, status(503) if asked(call).endswith("1") and first else say("Done."))

    latest: list[Agent] = []

    def make() -> Agent:
        latest.append(agents(Busy(), retry_base_seconds=0.25))
        return latest[-1]

    events = await same(make)
    assert sum("Retrying(" in event for event in events) == 1
    ended = [t - START for _, t, fact in stored(latest[-1]) if "'fact': 'Final'" in fact]
    assert ended == pytest.approx([1.25, 1, 1.25, 1])  # the turn, and what worked for it


async def test_a_stop_ends_all_of_them_and_takes_back_what_they_were_lent(agents: Any) -> None:
    agent = agents(team(5, lambda _: late(say("Never."), 60)))
    asyncio.get_running_loop().call_later(0.4, agent.stop)
    began = time.monotonic()
    turn = await agent.ask("go")
    assert time.monotonic() - began < SOON
    assert turn.outcome is Outcome.INTERRUPTED
    assert turn.budget.leases == ()
    assert sum(isinstance(event, Leased) for event in turn.events) == 5
    assert sum(isinstance(event, Returned) for event in turn.events) == 5


async def test_an_error_of_ours_in_one_subagent_leaves_the_others_their_reports(agents: Any) -> None:
    class Wrong(ScriptedModel):
        async def reply(self, call: CallModel, *rest: Any) -> Any:
            if is_child(call) and asked(call).endswith("1"):
                raise ZeroDivisionError("a mistake")
            async for event in super().reply(call, *rest):
                yield event

    agent = agents(Wrong(team(3, lambda _: say("Done."))))
    reports: tuple[Report, ...] = await agent.delegate([f"part {n}" for n in range(3)])
    assert [report.text for report in reports] == ["Done.", "", "Done."]
    assert "it broke off: ZeroDivisionError('a mistake')" in reports[1].reason


# --- beside the turn


class Summing(Talk):
    """Takes its time for a summary."""

    async def reply(self, call: CallModel, tools: Any, stop: Any) -> Any:
        self.open.set()
        if call.system == SYSTEM:
            await asyncio.sleep(0 if Pace.small else MOMENT)
        async for event in super().reply(call, tools, stop):
            yield event


async def test_a_summary_that_was_begun_is_waited_for(tmp_path: Path) -> None:
    """Whether it is there at the next call would else depend on who was faster."""
    runs = []
    for Pace.small in (True, False):
        home = tmp_path / str(Pace.small)
        async with Agent(Summing(), home=home, spec=True, context_window=WINDOW) as agent:
            events = []
            for turn in range(16):
                events += [event async for event in agent.stream(f"letter {turn}") if _counts(event)]
            runs.append(list(map(repr, events)))
    assert runs[0] == runs[1]
    kinds = [type(event) for event in events]
    assert Compressing in kinds
    assert [event.how for event in events if isinstance(event, Compressed)][:1] == ["summary"]


async def test_rows_of_a_map_are_kept_the_same_whoever_is_faster_or_has_to_wait(agents: Any) -> None:
    class Busy(ScriptedModel):
        def __init__(self) -> None:
            super().__init__(self._answer)

        def _answer(self, call: CallModel) -> Step:
            first = sum(asked(call) == asked(other) for other in self.calls) == 1
            return paced(call, status(503) if asked(call).endswith("3") and first else say(f"Row {asked(call)[-1]}."))

    runs = []
    for Pace.small in (True, False):
        agent = agents(Busy(), retry_base_seconds=0.25)
        result = await agent.map("Say $n", [{"n": n} for n in range(6)], workers=4)
        runs.append((list(map(repr, result.rows)), stored(agent)))
    assert runs[0] == runs[1]
    assert "Row 3." in runs[0][0][3]
