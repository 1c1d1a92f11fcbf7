"""The same map by threads, by processes and by executors that fail: one outcome for each row, and the executor lives."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.events import Final, Kept
from hermes_kernel.testing import ScriptedModel, Server, call, late, say, stall, status
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.mapped import TEMPLATE, Rows, agent_of, row_of, rows

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def whoami(at: str) -> str:
    """Say who runs this."""
    return f"process {os.getpid()}"


async def test_threads_give_what_the_loop_gives_and_keep_their_connections(home: Path) -> None:
    script = Rows({"3": lambda: status(400)})
    with Server(script) as server, ThreadPoolExecutor(2) as pool:
        async with agent_of(server, home) as agent:
            here = await agent.map(TEMPLATE, rows(12), name="here")
            before = server.connections
            there = await agent.map(TEMPLATE, rows(12), name="there", executor=pool)
            assert server.connections - before <= 2 * 2  # each thread's own, and its look for the model's window
            assert [(row.outcome, row.text) for row in here] == [(row.outcome, row.text) for row in there]
            assert pool.submit(int, "7").result() == 7
            assert (await agent.map(TEMPLATE, rows(12), name="there", executor=pool)).rows == there.rows
    assert set(script.asked.values()) == {2}


async def test_processes_need_no_home_of_ours(home: Path) -> None:
    def script(request: Any) -> Any:
        if request.messages[-1]["role"] != "tool":
            return call("whoami", {"at": row_of(request)})
        return say(request.messages[-1]["content"])

    with Server(script) as server, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(6), executor=pool, tools=[whoami])
            kept = agent.store.recall(result[0].session_id)
    assert result.counts == {"completed": 6}
    assert 1 <= len(set(result.texts)) <= 2
    assert str(os.getpid()) not in "".join(result.texts)
    assert [type(fact).__name__ for fact in kept][-2:] == ["Replied", "Final"]


ENDING = """
import asyncio, sys
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
from tests.contracts.mapped import TEMPLATE, Rows, agent_of, rows
from hermes_kernel.testing import Server

async def main():
    with Server(Rows()) as server:
        named = server.url.replace("127.0.0.1", "localhost")  # it is looked up by a thread of the loop's
        async with agent_of(server, Path(sys.argv[1]), base_url=named) as agent:
            print((await agent.map(TEMPLATE, rows(2), executor=ThreadPoolExecutor(1))).counts)

asyncio.run(main())
"""


def test_a_process_whose_threads_worked_ends_without_a_word(home: Path) -> None:
    command = [sys.executable, "-c", ENDING, str(home)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{'completed': 2}\n", "")


async def test_what_cannot_travel_is_refused_before_anything_is_paid(home: Path) -> None:
    with Server(Rows()) as server, ProcessPoolExecutor(1, get_context("spawn")) as pool:
        async with agent_of(server, home) as agent:
            with pytest.raises(HermesError, match=r"These tools cannot go to another process.*in a module"):
                await agent.map(TEMPLATE, rows(2), executor=pool, tools=[lambda_of("x")])
        async with Agent(ScriptedModel(say("Hm.")), home=home) as own:
            with pytest.raises(HermesError, match="leave out the executor"):
                await own.map(TEMPLATE, rows(2), executor=pool)
            assert (await own.map(TEMPLATE, rows(1))).texts == ["Hm."]
        assert not server.requests


def lambda_of(name: str) -> Any:
    def inner(at: str) -> str:
        """Say it."""
        return name + at

    return inner


async def test_a_process_that_dies_leaves_its_rows_unknown_and_the_rest_not_asked(home: Path) -> None:
    with Server(lambda _: late(say("Slow."), 60)) as server, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        async with agent_of(server, home) as agent:
            task = asyncio.ensure_future(agent.map(TEMPLATE, rows(9), executor=pool, name="mine"))
            await asyncio.to_thread(server.await_requests, 2)
            os.kill(next(iter(pool._processes)), signal.SIGKILL)
            result = await task
            assert result.counts == {"unknown": 2, "not_asked": 7}
            assert "the executor takes no more rows" in result.note
            assert 'again=("unknown",)' in result.advice
            again = await agent.map(TEMPLATE, rows(9), name="mine", budget=1)
            assert again.counts == {"unknown": 2, "not_asked": 7}
    assert len(server.requests) == 2


async def test_a_stop_reaches_the_threads_of_this_process(home: Path) -> None:
    with Server(lambda _: stall("Long.", after=1, seconds=60)) as server, ThreadPoolExecutor(3) as pool:
        async with agent_of(server, home) as agent:
            task = asyncio.ensure_future(agent.map(TEMPLATE, rows(20), executor=pool))
            await asyncio.to_thread(server.await_requests, 3)
            agent.stop()
            result = await asyncio.wait_for(task, 5)
            assert result.counts == {"interrupted": 3, "not_asked": 17}
            done = await asyncio.wait_for(asyncio.to_thread(lambda: pool.submit(int, "7").result()), 20)
            assert done == 7


class Broken(Executor):
    """Loses whatever it is given."""

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(ImportError("No module named 'hermes_kernel'"))
        return future


async def test_an_executor_that_loses_every_row_is_not_given_all_of_them(home: Path) -> None:
    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(100), executor=Broken(), workers=2)
    assert result.counts["not_asked"] >= 90
    assert "ImportError: No module named 'hermes_kernel'" in result.note
    assert not server.requests


async def test_rows_that_no_executor_took_have_spent_nothing_of_the_budget(home: Path) -> None:
    shut = ThreadPoolExecutor(4)
    shut.shutdown()
    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:
            for _ in range(3):
                result = await agent.map(TEMPLATE, rows(6), executor=shut, budget=6)
                assert "the executor takes no more rows" in result.note
            assert not server.requests
            assert (await agent.map(TEMPLATE, rows(6), budget=6)).counts == {"completed": 6}
            again = await agent.map(TEMPLATE, rows(6), budget=6, again=("completed",))
            assert "the budget is spent" in again.note
    assert len(server.requests) == 6


class Odd(Executor):
    """Does with a row whatever it is told to."""

    def __init__(self, does: Callable[[], Any]) -> None:
        self._does = does

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(self._does())
        return future


def refuses() -> Any:
    raise OSError("the way to the\ncluster is <b>closed</b>")


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (refuses, "did not say that it took it: OSError: the way to the cluster is <b>closed</b>"),
        (lambda: (1, "x"), "brought back what is no answer"),
        (lambda: "x", "brought back what is no answer"),
    ],
)
async def test_an_executor_that_does_what_no_executor_does_ends_its_map_in_a_line(
    home: Path, does: Callable[[], Any], says: str
) -> None:
    with Server(Rows()) as server:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(40), executor=Odd(does), workers=2)
            assert set(result.counts) == {"unknown", "not_asked"}
            assert says in result.note
            assert "\n" not in result.note
            assert result.counts["not_asked"] >= 30
            again = await agent.map(TEMPLATE, rows(40), again=("unknown",))
            assert again.counts == {"completed": 40}


async def test_a_bug_of_ours_in_the_writing_of_a_row_ends_the_map_and_nobody_waits_for_ever(home: Path) -> None:
    class Buggy(MemoryLog):
        def append(self, session_id: str, *events: Kept) -> None:
            if any(isinstance(event, Final) and event.text == "It is 3." for event in events):
                raise TypeError("a bug of ours")
            super().append(session_id, *events)

    with Server(Rows()) as server:
        async with agent_of(server, home, log=Buggy()) as agent:
            with pytest.raises(TypeError, match="a bug of ours"):
                await asyncio.wait_for(agent.map(TEMPLATE, rows(8), workers=2), 20)
            assert not agent.busy


async def test_the_budget_holds_across_workers(home: Path) -> None:
    def script(request: Any) -> Any:
        return call("whoami", {"at": str(request.number)}) if request.body.get("tools") else say("That is all.")

    with Server(script) as server, ThreadPoolExecutor(4) as pool:
        async with agent_of(server, home) as agent:
            result = await agent.map(TEMPLATE, rows(5), executor=pool, budget=30, row_budget=20, tools=[whoami])
    assert len(server.requests) <= 30
    assert set(result.counts) <= {"budget_exhausted", "not_asked"}


@pytest.mark.slow
def test_a_dask_cluster_survives_the_death_of_a_worker_and_begins_no_row_twice() -> None:
    pytest.importorskip("distributed")
    command = [sys.executable, "-m", "tests.kill.maps", "dask"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["killed"], told["rows begun twice"]) == (1, 0)
    assert told["calls at the server"] <= told["budget"]
