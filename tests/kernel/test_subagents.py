"""Subagents in a real notebook: an interrupt ends the whole tree, and the person's variables are their own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import pytest

from hermes_kernel.core.events import Final
from hermes_kernel.core.turn import recall
from hermes_kernel.testing import Request, Server, Step, call, late, say, stall
from hermes_kernel.world.store import Store
from tests.soon import SOON

TIMES = int(os.environ.get("HERMES_TEST_TIMES", "2"))  # 10 for figures


def results(request: Request) -> list[str]:
    return [str(message["content"]) for message in request.messages if message["role"] == "tool"]


@contextmanager
def served(kernel: Any, child: Callable[[Request], Step], tasks: int = 5) -> Iterator[Server]:
    """A server whose model hands over so many tasks once; each subagent does what `child` says."""

    def answer(request: Request) -> Step:
        if "You are a subagent" in str(request.messages[0]["content"]):
            return child(request)
        if str(request.messages[-1]["content"]).endswith("Are you there?"):
            return say("Here again.")
        return (
            say("All done.") if results(request) else call("delegate", {"tasks": [f"part {n}" for n in range(tasks)]})
        )

    with Server(answer) as server:
        kernel.ask_server(server)
        yield server


PHASES = {
    "before the first byte": lambda _: late(say("Never."), 30),
    "in silent streams": lambda _: stall(["Some words.", " More."], after=1, seconds=30),
    "in commands": lambda _: call("terminal", {"command": "sleep 60"}),
}


@pytest.mark.parametrize("phase", PHASES)
def test_an_interrupt_ends_five_subagents_and_the_next_prompt_works(running, phase):
    took = []
    for _ in range(TIMES):
        with served(running, PHASES[phase]) as server:
            sent = running.send(running.prompt("Go."), cell_id="c1")
            assert server.await_requests(6)
            time.sleep(0.3)  # into the phase, not on its edge
            ran = running.finish(sent, began=running.interrupt())
            took.append(ran.seconds)
            assert ran.reply["ename"] == "KeyboardInterrupt"
            after = running.run(running.prompt("Are you there?"))
            assert "Here again." in after.text
            assert server.await_idle()
    print(f"{phase}: {sorted(round(each, 3) for each in took)}")
    store = Store(running.home)
    rows = [row for row in store.sessions(5) if row.kind == "subagent"]
    assert rows
    for row in rows:
        facts = store.recall(row.id)
        assert isinstance(facts[-1], Final)
        assert recall(facts).outcome == "interrupted"
    store.close()
    assert median(took) < SOON


def look(request: Request) -> Step:
    return say(results(request)[-1]) if results(request) else call("python", {"code": "print('mine' in globals())"})


def test_subagents_compute_beside_the_notebook_unless_they_are_let_in(hermes):
    with served(hermes, look, tasks=1):
        hermes.run("%%py\nmine = 7")
        ran = hermes.run("%%py\nreports = await hermes.delegate('Is it there?')\nprint(reports[0].text.strip())")
        assert ran.stdout.strip() == "False", ran.error
        ran = hermes.run("%%py\nreports = await hermes.delegate('Is it there?', namespace=True)\nprint(reports)")
        assert "completed: 'True'" in ran.stdout, ran.error


def test_an_interrupt_of_a_cell_that_waits_for_subagents_ends_them(hermes):
    with served(hermes, lambda _: late(say("Never."), 30)) as server:
        sent = hermes.send("%%py\nawait hermes.delegate(['a', 'b'])")
        assert server.await_requests(2)
        ran = hermes.finish(sent, began=hermes.interrupt())
        print(f"a cell that waits: {ran.seconds:.3f}")
        assert ran.seconds < SOON
        assert ran.error.startswith("Interrupted. What the subagents had done until then is in their sessions")
        assert "\n" not in ran.error
        assert hermes.value("hermes.busy") == "False"
        assert server.await_idle()
        assert "Here again." in hermes.run("Are you there?").text
