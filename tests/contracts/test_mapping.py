"""What holds of many prompts over many rows, over a real store and a server that knows which row it is asked about."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.events import Asked, Final, Opened, Retrying
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.turn import recall
from hermes_kernel.mapping import MapResult, Progress
from hermes_kernel.mapping.gate import Gate
from hermes_kernel.testing import FastClock, Server, call, late, rate_limited, say, stall, status
from hermes_kernel.world.stop import Stop, Stopped
from hermes_kernel.world.store import MemoryLog, Store
from hermes_kernel.world.store.logs import title
from hermes_kernel.world.store.retention.deletion import delete
from tests.contracts.mapped import TEMPLATE, Rows, agent_of, row_of, rows

ALL = "completed", "budget_exhausted", "refused", "empty", "failed", "interrupted", "unknown", "not_asked"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
async def asked(home: Path) -> AsyncIterator[tuple[Agent, Rows, Server]]:
    script = Rows()
    with Server(script) as server:
        async with agent_of(server, home) as agent:
            yield agent, script, server


async def test_each_row_is_asked_once_in_a_conversation_of_its_own(asked: Any) -> None:
    agent, script, server = asked
    result = await agent.map(TEMPLATE, rows(20), workers=3)
    assert result.texts == [f"It is {n}." for n in range(20)]
    assert [row.key for row in result] == list(range(20))
    assert set(script.asked.values()) == {1}
    assert {len(request.messages) for request in server.requests} == {2}
    assert not any(request.body.get("tools") for request in server.requests)
    assert server.connections <= 3 + 1  # one looks for the model's window
    assert result.usage.calls == 20
    assert not result.failed
    assert agent.turn.messages == ()


async def test_a_frame_comes_back_under_its_own_index(asked: Any) -> None:
    agent, _, _ = asked
    frame = pd.DataFrame({"n": [7, 8]}, index=pd.Index(["k", "k"], name="key"))
    made = (await agent.map(TEMPLATE, frame)).frame()
    assert made.index.equals(frame.index)
    assert list(made["text"]) == ["It is 7.", "It is 8."]
    assert list(frame.assign(answer=made["text"].to_numpy())["answer"]) == ["It is 7.", "It is 8."]
    assert list(made["calls"]) == [1, 1]


async def test_what_is_wrong_costs_nothing(asked: Any) -> None:
    agent, _, server = asked
    for template, wishes, words in (
        ("Row $m:", {}, r"no column \$m"),
        (TEMPLATE, {"workers": 0}, "workers cannot be 0"),
        (TEMPLATE, {"budget": "many"}, "budget cannot be 'many'"),
        (TEMPLATE, {"again": ("lost",)}, "again cannot be 'lost': it must be among completed,"),
        (TEMPLATE, {"tools": ["clarify"]}, "cannot have the tool clarify. By name it can have: python,"),
        (TEMPLATE, {"name": "two\nlines"}, "A title is one line"),
        (TEMPLATE, {"executor": "dask"}, "executor cannot be a str: it must be a concurrent.futures.Executor"),
        (TEMPLATE, {"wokers": 2}, "A map has no argument wokers. Did you mean workers[?] There are: executor,"),
    ):
        with pytest.raises(HermesError, match=words):
            await agent.map(template, rows(2), **wishes)
    assert not server.requests
    assert agent.store.latest() is None


async def test_no_rows_are_no_map_and_an_empty_prompt_is_not_asked(asked: Any) -> None:
    agent, _, server = asked
    none = await agent.map(TEMPLATE, [])
    assert (len(none), none.counts, none.texts, len(none.frame())) == (0, {}, [], 0)
    assert str(none) == "0 rows."
    blank = await agent.map("$a", [{"a": None}, {"a": " \n"}])
    assert blank.counts == {"not_asked": 2}
    assert not server.requests


async def test_a_map_run_again_takes_everything_from_the_store(asked: Any, home: Path) -> None:
    agent, _, server = asked
    one = await agent.map(TEMPLATE, rows(9))
    for _ in range(2):
        two = await agent.map(TEMPLATE, iter(rows(9)))
        assert (two.rows, two.session_id) == (one.rows, one.session_id)
        Store(home).fold()
    named = await agent.map(TEMPLATE, rows(9), name="mine")
    assert named.session_id != one.session_id
    titles = [title(agent.store.recall(each.session_id)) for each in (one, named)]
    assert titles == [TEMPLATE, "mine"]
    assert len(server.requests) == 18


async def test_another_map_under_the_same_name_is_refused_with_what_differs(asked: Any) -> None:
    agent, _, server = asked
    await agent.map(TEMPLATE, rows(2), name="mine")
    with pytest.raises(HermesError, match="'mine' was begun with another template. Give this one another name"):
        await agent.map(TEMPLATE + "!", rows(2), name="mine")
    with pytest.raises(HermesError, match="another rows and another system"):
        await agent.map(TEMPLATE, rows(3), name="mine", system="Be brief.")
    agent.configure(model="other")
    with pytest.raises(HermesError, match="another model"):
        await agent.map(TEMPLATE, rows(2), name="mine")
    assert len(server.requests) == 2


async def test_a_row_that_failed_is_asked_again_on_demand_and_pays_for_both(home: Path) -> None:
    broken = {"1": lambda: status(400)}
    script = Rows(broken)
    with Server(script) as server:
        async with agent_of(server, home) as agent:
            one = await agent.map(TEMPLATE, rows(3))
            assert one.counts == {"completed": 2, "failed": 1}
            assert one[1].reason
            assert one.advice.endswith('Map again with again=("failed",) to ask, and pay for, them anew.')
            assert (await agent.map(TEMPLATE, rows(3))).rows == one.rows
            broken.clear()
            two = await agent.map(TEMPLATE, rows(3), again="failed")
            assert two.texts == ["It is 0.", "It is 1.", "It is 2."]
            three = await agent.map(TEMPLATE, rows(3), again=["completed"])
            assert three[0].usage.calls == 2
            assert three.counts == {"completed": 3}
    assert script.asked == {"0": 2, "1": 3, "2": 2}


async def test_a_row_is_on_disk_before_it_is_asked_and_is_a_child_of_its_map(home: Path) -> None:
    seen = []

    def script(request: Any) -> Any:
        with_prompt = Store(home).search(f'"Row {row_of(request)}"')
        seen.append(len(with_prompt.threads))
        return say("Yes.")

    with Server(script) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(2), name="mine", workers=1)
    assert min(seen) >= 1
    store = Store(home)
    facts = store.recall(result[1].session_id)
    assert isinstance(facts[0], Opened)
    assert (facts[0].kind, facts[0].parent) == ("map", result.session_id)
    assert isinstance(facts[-1], Final)
    assert recall(facts).text == "Yes."
    assert store.find("mine") == result.session_id
    asked = next(fact for fact in store.recall(result.session_id) if isinstance(fact, Asked))
    assert asked.text.startswith(TEMPLATE)
    assert "sk-secret" not in "".join(map(repr, store.recall(result.session_id)))


async def test_a_budget_is_never_passed_and_a_larger_one_goes_on(asked: Any) -> None:
    agent, script, server = asked
    one = await agent.map(TEMPLATE, rows(10), budget=4)
    assert one.counts == {"completed": 4, "not_asked": 6}
    assert one.note == "6 rows not asked, for the budget is spent. Map again with a larger budget to go on."
    assert (await agent.map(TEMPLATE, rows(10), budget=4)).counts == one.counts
    assert (await agent.map(TEMPLATE, rows(10), budget=7)).counts == {"completed": 7, "not_asked": 3}
    assert (await agent.map(TEMPLATE, rows(10))).counts == {"completed": 10}
    assert set(script.asked.values()) == {1}
    assert len(server.requests) == 10


@pytest.mark.parametrize(("budget", "each", "workers"), [(1, 1, 1), (7, 3, 2), (30, 20, 5), (5, 9, 8)])
async def test_rows_that_want_more_than_there_is_end_within_their_leases(
    home: Path, budget: int, each: int, workers: int
) -> None:
    def look(at: str) -> str:
        """Look."""
        return at

    def script(request: Any) -> Any:
        wanting = request.body.get("tools")
        return call("look", {"at": str(request.number)}) if wanting else say("That is all.")

    with Server(script) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(5), budget=budget, row_budget=each, workers=workers, tools=[look])
            again = await agent.map(TEMPLATE, rows(5), budget=budget, row_budget=each, workers=workers, tools=[look])
    assert len(server.requests) <= budget
    assert len(server.requests) >= min(budget, 5) - 4
    assert set(result.counts) <= {"budget_exhausted", "not_asked"}
    assert [row.outcome for row in again if row.outcome != "not_asked"] == [
        row.outcome for row in again if row.outcome == "budget_exhausted"
    ]


async def test_an_empty_answer_spends_no_more_than_the_lease(home: Path) -> None:
    from hermes_kernel.testing import empty

    with Server(lambda _: empty()) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(3), budget=3)
    assert len(server.requests) == 3
    assert result.counts == {"budget_exhausted": 3}


async def test_a_row_may_have_tools_that_need_nobody(home: Path) -> None:
    def double(number: int) -> int:
        """Double it."""
        return 2 * number

    def script(request: Any) -> Any:
        last = request.messages[-1]
        if last["role"] != "tool":
            return call("double", {"number": int(row_of(request))})
        return say(f"It is {last['content']}.")

    with Server(script) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(4), tools=[double, "python"])
            assert result.texts == ["It is 0.", "It is 2.", "It is 4.", "It is 6."]
    assert {len(request.body["tools"]) for request in server.requests} == {2}


async def test_progress_is_told_and_the_result_last(asked: Any) -> None:
    agent, _, _ = asked
    await agent.map(TEMPLATE, rows(6), budget=2)
    told = [event async for event in agent.mapper.stream(TEMPLATE, rows(6), workers=2)]
    *steps, result = told
    assert isinstance(result, MapResult)
    assert all(isinstance(step, Progress) for step in steps)
    assert (steps[0].done, steps[0].kept, steps[0].of) == (2, 2, 6)
    assert (steps[-1].done, steps[-1].calls, steps[-1].running) == (6, 4, 0)
    assert [step.done for step in steps] == sorted(step.done for step in steps)


async def _told(events: Any) -> list[Any]:
    return [event async for event in events]


async def test_a_stop_closes_the_rows_in_flight_and_asks_no_more(home: Path) -> None:
    with Server(lambda _: stall("It is long.", after=1, seconds=60)) as server:
        async with agent_of(server, home) as agent:
            task = asyncio.ensure_future(_told(agent.mapper.stream(TEMPLATE, rows(50), workers=4)))
            await asyncio.to_thread(server.await_requests, 4)
            agent.stop()
            *told, result = await asyncio.wait_for(task, 5)
            assert result.counts == {"interrupted": 4, "not_asked": 46}
            assert told[-1].calls == result.usage.calls
            assert "the map was stopped" in result.note
            assert not agent.busy
            facts = agent.store.recall(result[0].session_id)
            assert isinstance(facts[-1], Final)
        assert len(server.requests) == 4


async def test_rows_without_an_end_are_read_until_the_stop_and_none_is_asked(home: Path) -> None:
    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:

            def endless() -> Iterator[dict[str, int]]:
                for n in itertools.count():
                    if n == 1000:
                        agent.stop()
                    yield {"n": n}

            with pytest.raises(HermesError, match="Stopped while the rows were read: none was asked"):
                await agent.map(TEMPLATE, endless())
            assert not agent.busy
            assert (await agent.map(TEMPLATE, rows(2))).counts == {"completed": 2}
    assert len(server.requests) == 2


async def test_what_rows_raise_as_they_are_read_is_theirs_and_nobody_elses(home: Path) -> None:
    def broken() -> Iterator[dict[str, int]]:
        yield {"n": 1}
        raise ConnectionResetError("the table is gone")

    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:
            with pytest.raises(ConnectionResetError, match="the table is gone"):
                await agent.map(TEMPLATE, broken())
            assert not agent.busy
    assert not server.requests


@pytest.mark.parametrize("budget", ["7", 2.5, float("nan"), True, 0, -1])
async def test_a_budget_that_is_no_number_of_calls_is_refused_wherever_one_may_be_given(
    home: Path, budget: Any
) -> None:
    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:
            for work in (agent.map(TEMPLATE, rows(2), budget=budget), agent.ask("Row 1: go", budget=budget),
                         agent.delegate("Row 1: go", budget=budget)):  # fmt: skip
                with pytest.raises(HermesError, match="(?i)budget .*must be"):
                    await work
                assert not agent.busy
    assert not server.requests


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", 1e9, True])
async def test_a_time_that_no_clock_can_keep_is_refused_wherever_one_may_be_given(home: Path, timeout: Any) -> None:
    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:
            for work in (agent.map(TEMPLATE, rows(2), timeout=timeout), agent.ask("Row 1: go", timeout=timeout),
                         agent.delegate("Row 1: go", timeout=timeout)):  # fmt: skip
                with pytest.raises(HermesError, match="timeout cannot be .*: it must be seconds"):
                    await work
                assert not agent.busy
    assert not server.requests


async def test_who_stops_listening_stops_the_map(home: Path) -> None:
    with Server(lambda _: late(say("Slow."), 60)) as server:
        async with agent_of(server, home) as agent:
            async with aclosing(agent.mapper.stream(TEMPLATE, rows(50), workers=4)) as told:
                async for _ in told:
                    await asyncio.to_thread(server.await_requests, 4)
                    break
            assert not agent.busy
            result = await agent.map(TEMPLATE, rows(50), budget=1)
            assert result.counts["interrupted"] == 4


async def test_one_thing_at_a_time_and_one_process_at_a_map(home: Path) -> None:
    with Server(lambda _: late(say("Slow."), 60)) as server:
        async with agent_of(server, home) as one, agent_of(server, home) as two:
            task = asyncio.ensure_future(one.map(TEMPLATE, rows(3), name="mine"))
            await asyncio.to_thread(server.await_requests, 3)
            with pytest.raises(HermesError, match="A turn is running in this session"):
                await one.ask("And you?")
            with pytest.raises(HermesError, match="This map cannot be run now: session .* is in use by process"):
                await two.map(TEMPLATE, rows(3), name="mine")
            one.stop()
            await task
            assert len(server.requests) == 3


async def test_a_deleted_map_is_asked_anew_and_its_answers_are_kept(asked: Any, home: Path) -> None:
    agent, script, _ = asked
    one = await agent.map(TEMPLATE, rows(2), name="mine")
    delete(Store(home), [one[1].session_id], 0.0)
    two = await agent.map(TEMPLATE, rows(2), name="mine")
    assert (two[0], two.session_id) == (one[0], one.session_id)
    assert two[1].session_id != one[1].session_id
    delete(Store(home), [two.session_id, *(row.session_id for row in two)], 0.0)
    for _ in range(2):
        three = await agent.map(TEMPLATE, rows(2), name="mine")
        assert three.session_id != one.session_id
    assert script.asked == {"0": 2, "1": 3}


async def test_a_map_needs_no_store_on_disk(home: Path) -> None:
    script = Rows()
    with Server(script) as server:
        async with agent_of(server, home, log=MemoryLog()) as agent:
            await agent.map(TEMPLATE, rows(4), budget=2)
            assert (await agent.map(TEMPLATE, rows(4))).counts == {"completed": 4}
    assert set(script.asked.values()) == {1}


async def test_a_row_ends_at_its_time_limit_and_the_others_do_not(home: Path) -> None:
    script = Rows({"1": lambda: stall("It is long.", after=1, seconds=60)})
    with Server(script) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(3), timeout=1.5)
    assert [row.outcome for row in result] == ["completed", "budget_exhausted", "completed"]


async def test_the_pace_is_kept_by_the_whole_map(home: Path) -> None:
    clock = FastClock()
    with Server(Rows()) as server:
        async with agent_of(server, home, clock=clock, requests_per_minute=10) as agent:
            began = clock.elapsed()
            result = await agent.map(TEMPLATE, rows(35))
            assert result.counts == {"completed": 35}
            assert clock.elapsed() - began >= 180


async def test_the_gate_lets_no_more_through_in_any_minute() -> None:
    clock, stop, passed = FastClock(), Stop(), []
    gate = Gate(10, clock)
    for _ in range(35):
        await gate.through(stop)
        passed.append(clock.elapsed())
    assert all(late - early >= 60 for early, late in zip(passed, passed[10:], strict=False))
    gate.see(Retrying(1, 3, 300.0, Fault.RATE_LIMIT))
    gate.see(Retrying(1, 3, 9000.0, Fault.DISCONNECT))
    await gate.through(stop)
    assert 300 <= clock.elapsed() - passed[-1] < 1000
    stop.press()
    gate.hold(10)
    with pytest.raises(Stopped):
        await gate.through(stop)


async def test_a_server_that_says_later_is_left_alone_by_all(home: Path) -> None:
    clock = FastClock()
    first = iter([rate_limited(90)])
    script = Rows({"0": lambda: next(first, say("It is 0."))})
    with Server(script) as server:
        async with agent_of(server, home, clock=clock) as agent:
            result = await agent.map(TEMPLATE, rows(30), workers=2)
            assert result.counts == {"completed": 30}
    assert clock.skipped >= 80
    assert script.asked["0"] == 2
    asked = [row_of(request) for request in server.requests]
    assert asked.index("0", 1) <= 4, "rows were sent to a server that had asked for time"


async def test_a_reason_that_the_next_row_will_meet_too_ends_the_map(home: Path) -> None:
    with Server(lambda _: status(401)) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(100), workers=2)
    assert len(server.requests) <= 6
    assert result.counts["not_asked"] >= 94
    assert "5 rows one after another failed" in result.note


async def test_hostile_cells_and_answers_do_no_harm_to_who_looks(home: Path) -> None:
    evil = "<script>alert(1)</script>|\n\n# x ![a](http://e/x.png) \x1b[31m"
    with Server(lambda _: say(evil * 50)) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map("$v", [{"v": evil}] * 30 + [{"v": ""}], name="mine")
    shown = result._repr_markdown_()
    answered = MapResult(result[:30])._repr_markdown_()
    for text in (shown, answered, str(result), repr(result)):
        assert "<script" not in text
        assert "\x1b" not in text
        assert "](http" not in text
        assert len(text) < 5000
    for text, marks in ((shown, 5), (answered, 4)):  # reasons are told where there are some
        assert {line.count("|") for line in text.splitlines() if "|" in line} == {marks}
    assert answered.endswith("and 20 more; `frame()` has all")
    assert result[0].text == evil * 50
    assert len(repr(result[0])) < 200


def test_without_pandas_the_answers_are_there_and_a_frame_says_what_it_needs() -> None:
    code = """
        import sys
        sys.modules["pandas"] = None
        from hermes_kernel.mapping import MapResult
        assert MapResult(()).texts == []
        MapResult(()).frame()
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.stderr.splitlines()[-1].endswith(
        "HermesError: A frame needs pandas: `pip install pandas`. Without it: `texts`, and each row."
    )


def test_plain_code_maps_too_and_ctrl_c_stops_it_cleanly(tmp_path: Path) -> None:
    code = """
        import os, signal, sys, threading
        from hermes_kernel.testing import Server, stall
        from tests.contracts.mapped import TEMPLATE, agent_of, rows
        from pathlib import Path
        with Server(lambda _: stall("Long.", after=1, seconds=60)) as server:
            agent = agent_of(server, Path(sys.argv[1]))
            threading.Thread(target=lambda: (server.await_requests(2), os.kill(os.getpid(), signal.SIGINT))).start()
            print(agent.map_sync(TEMPLATE, rows(9), workers=2).counts)
            agent.close()
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert "{'interrupted': 2, 'not_asked': 7}" in done.stdout
    assert done.stderr == ""
