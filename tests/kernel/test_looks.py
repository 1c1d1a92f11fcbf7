"""A conversation that is looked back at, as a person in a notebook meets it: asked for, beside the cells, cut by an end."""

from __future__ import annotations

import sys
import time

import pytest

from hermes_kernel.testing import Server, call, say, stall
from tests.contracts.looks import Parts, remember, who
from tests.contracts.test_reflecting_skills import SKILL
from tests.kernel.conftest import Kernel

ENTRY = "The person <b>wants</b> prices in EUR."


@pytest.fixture(params=["hermes", "python3"])
def kernel(request, tmp_path):
    made = Kernel(request.param, sys.executable, tmp_path)
    made.run("%hermes config learning=off")
    yield made
    made.close()


def test_a_person_has_the_conversation_looked_back_at_and_reads_what_came_of_it(kernel):
    script = Parts(
        nudge=[remember(ENTRY, "user"), say("Kept one.")], review=[call("skill_manage", SKILL), say("Made it.")]
    )
    with Server(script) as server:
        kernel.ask_server(server)
        assert "Nothing was said in this conversation yet" in kernel.run("%hermes nudge").error
        assert kernel.run(kernel.prompt("I want prices in EUR.", "--no-cells")).status == "ok"
        ran = kernel.run("%hermes nudge", cell_id="c")
        assert ran.status == "ok", ran.error
        assert "USER.md + The person <b>wants</b> prices in EUR." in ran.shown()[-1]
        assert "&lt;b&gt;" in ran.shown("text/html")[-1]
        assert kernel.value("_.wrote") == "('USER.md',)"
        aside = kernel.value("_.aside").strip("'")
        assert "Kept one." in kernel.run(f"%hermes show {aside[:8]}").text
        assert "nudge" in kernel.run("%hermes usage all").text
        ran = kernel.run("%hermes review")
        assert "skill pricing-a-list: create" in ran.text
        assert "takes nothing more" in kernel.run("%hermes nudge now").error
        assert "stands alone" in kernel.run(kernel.python("%hermes nudge\nx = 1")).error


def test_a_look_that_a_person_stops_is_told_in_a_line(kernel):
    with Server(Parts(nudge=stall("Hm", after=1, seconds=float("inf")))) as server:
        kernel.ask_server(server)
        kernel.run(kernel.prompt("Hello.", "--no-cells"))
        sent = kernel.send("%hermes nudge")
        assert server.await_requests(2)
        kernel.manager.interrupt_kernel()
        ran = kernel.finish(sent)
        assert ran.status == "error"
        assert "Traceback" not in ran.error
        assert server.await_idle()
        assert kernel.run(kernel.prompt("Hello again.", "--no-cells")).status == "ok"


def test_neither_cells_nor_prompts_nor_an_end_wait_for_a_look_that_hangs(kernel):
    with Server(Parts(nudge=stall("Hm", after=1, seconds=float("inf")))) as server:
        kernel.ask_server(server)
        kernel.run("%hermes config learning=on")
        kernel.run("%hermes config nudge_every_turns=1")
        assert kernel.run(kernel.prompt("Hello.", "--no-cells")).status == "ok"
        assert server.await_requests(2)
        assert kernel.run(kernel.python("6 * 7")).text.strip() == "42"
        assert kernel.run(kernel.prompt("Hello again.", "--no-cells")).status == "ok"
        assert [who(request) for request in server.requests] == ["chat", "nudge", "chat"]
        began = time.monotonic()
        kernel.client.shutdown()
        while kernel.manager.is_alive() and time.monotonic() < began + 30:
            time.sleep(0.01)
        assert not kernel.manager.is_alive()
