"""Interrupt, in every phase of a turn: the cell replies soon, the history is whole, and the next prompt works."""

from __future__ import annotations

import os
import sys
import time
from statistics import median

import pytest

from hermes_kernel.testing import call, calls, forever, late, say, stall, status
from tests.kernel.conftest import Kernel
from tests.soon import SOON

TIMES = int(os.environ.get("HERMES_TEST_TIMES", "3"))  # 10 for figures

NAP = """
import asyncio, time
from hermes_kernel import tool
@tool
def nap(number: int) -> str:
    "Sleep."
    time.sleep(2)
    return "slept"
"""

PHASES = {
    "before the first byte": (late(say("Never."), 30), "thinking"),
    "mid stream": (say(["word "] * 400, gap=0.05), "word word"),
    "in a silent stream": (stall(["Some words.", " More."], after=1, seconds=30), "Some words."),
    "in a backoff": (status(503), "retry 1 of 3"),
    "in a batch of eight tools": (calls([("nap", {"number": n}) for n in range(8)]), "8 tools"),
    "in a long command": (call("terminal", {"command": "sleep 60"}), "tool <code>terminal</code>"),
    "in code that blocks": (call("python", {"code": "import time\ntime.sleep(60)"}), "tool <code>python</code>"),
    "in code that awaits": (
        call("python", {"code": "import asyncio\nawait asyncio.sleep(60)"}),
        "tool <code>python</code>",
    ),
}


@pytest.mark.parametrize("phase", PHASES)
def test_an_interrupt_ends_the_cell_soon_and_the_next_prompt_works(running, scripted, phase):
    step, words = PHASES[phase]
    assert running.run(running.python(NAP)).status == "ok"
    took = []
    for _ in range(TIMES):
        server = scripted(step, say("Here again."))
        sent = running.send(running.prompt("Go."), cell_id="c1")
        seen = running.until(sent, words)
        assert server.await_requests(1)  # it is thinking from before the model was asked
        time.sleep(0.1)  # into the phase, not on its edge
        ran = running.finish(sent, began=running.interrupt(), seen=seen)
        took.append(ran.seconds)
        assert ran.status == "error"
        assert ran.reply["ename"] == "KeyboardInterrupt"
        assert ran.error == "Interrupted. The conversation is kept; the next prompt goes on from here."
        assert (
            running.value(
                "(str(_.outcome), len(_.tool_calls) == sum(1 for m in _.messages if type(m).__name__ == 'Observation'))"
            )
            == "('interrupted', True)"
        )
        after = running.run(running.prompt("Are you there?"))
        assert after.status == "ok", after.error
        assert "Here again." in after.text
        assert server.await_idle()
    print(f"{phase}: {sorted(round(each, 3) for each in took)}")
    assert median(took) < SOON


AT_ONCE = """
import os, signal
rows = ['a', 'b']
def press(_):
    get_ipython().events.unregister('pre_run_cell', press)
    os.kill(os.getpid(), signal.SIGINT)
get_ipython().events.register('pre_run_cell', press)
"""


@pytest.mark.parametrize(
    "cell", ["%%hermes\nGo.", "%hermes retry", "%hermes nudge", "%%hermes --map rows\nWhat is $row?"]
)
def test_an_interrupt_before_anything_of_the_turn_has_begun_ends_the_cell_like_any_other(running, scripted, cell):
    scripted(forever(say("Yes.")))
    assert running.run(running.prompt("Go.")).status == "ok"
    assert running.run(running.python(AT_ONCE)).status == "ok"
    ran = running.run(cell)
    assert ran.status == "error"
    assert ran.reply["ename"] == ran.of("error")[0]["ename"] == "KeyboardInterrupt"
    assert ran.error.startswith("Interrupted")
    assert ran.error.count("\n") == 0
    assert running.run(running.prompt("Are you there?")).status == "ok"


@pytest.mark.parametrize("cell", ["Go.", "%%py\nimport time; time.sleep(60)"])
def test_an_interrupt_while_the_first_cell_is_prepared_ends_it_and_the_next_one_works(tmp_path, cell):
    kernel = Kernel("hermes", sys.executable, tmp_path)
    try:
        sent = kernel.send(cell)
        seen = kernel.until(sent, cell.splitlines()[-1])
        ran = kernel.finish(sent, began=kernel.interrupt(), seen=seen)
        assert ran.reply["ename"] == "KeyboardInterrupt"
        assert ran.error == "Interrupted before anything of the cell ran."
        assert kernel.value("1 + 1") == "2"
    finally:
        kernel.close()


SLOW = "import time\nclass Slow:\n    def __repr__(self): time.sleep(60)\nslow = Slow()\nrows = ['a', 'b']"


@pytest.mark.parametrize("options", ["", "--map rows"])
def test_an_interrupt_is_heard_while_a_view_of_a_variable_is_made(running, scripted, options):
    server = scripted(say("Here again."))
    running.run(running.python(SLOW))
    took = []
    for _ in range(TIMES):
        sent = running.send(running.prompt("What is $slow?", options), cell_id="c1")
        time.sleep(0.3)
        ran = running.finish(sent, began=running.interrupt())
        took.append(ran.seconds)
        assert ran.reply["ename"] == "KeyboardInterrupt"
        assert ran.error == "Interrupted before the model was asked."
    assert median(took) < SOON
    assert server.requests == ()
    assert running.run(running.prompt("Are you there?")).status == "ok"


def test_two_presses_change_nothing(running, scripted):
    scripted(stall(["Some words.", " More."], after=1, seconds=30), say("Here again."))
    for _ in range(TIMES):
        sent = running.send(running.prompt("Go."), cell_id="c1")
        seen = running.until(sent, "Some words.")
        running.interrupt()
        running.interrupt()
        ran = running.finish(sent, seen=seen)
        assert ran.reply["ename"] == "KeyboardInterrupt"
        scripted(stall(["Some words.", " More."], after=1, seconds=30), say("Here again."))
    running.run("%hermes new")
    assert running.value("1 + 1") == "2"


KNOCKED = """
import os, signal

def knock(comm, opened):
    os.kill(os.getpid(), signal.SIGINT)

get_ipython().kernel.comm_manager.register_target("knock", knock)
"""


def test_an_interrupt_that_lands_while_another_message_is_handled_ends_the_turn(running, scripted):
    server = scripted(late(say("Never."), 60), say("Here again."))
    assert running.run(running.python(KNOCKED)).status == "ok"
    sent = running.send(running.prompt("Go."), cell_id="c1")
    assert server.await_requests(1)
    opened = {"comm_id": "k1", "target_name": "knock", "data": {}}
    running.client.shell_channel.send(running.client.session.msg("comm_open", opened))
    ran = running.finish(sent)
    assert ran.reply["ename"] == "KeyboardInterrupt"
    assert ran.error == "Interrupted. The conversation is kept; the next prompt goes on from here."
    assert "Here again." in running.run(running.prompt("Are you there?")).text


def test_a_queued_cell_does_not_run_after_an_interrupt(running, scripted):
    scripted(late(say("Never."), 30))
    first = running.send(running.prompt("Go."), cell_id="c1")
    second = running.send(running.python("ran_anyway = True"))
    running.until(first, "thinking")
    running.interrupt()
    assert running.finish(first).status == "error"
    assert running.finish(second).status == "aborted"
    assert running.value("'ran_anyway' in globals()") == "False"


def test_plain_python_is_interrupted_as_ever(running):
    sent = running.send(running.python("import time\nprint('go', flush=True)\ntime.sleep(60)"))
    seen = running.until(sent, "go")
    time.sleep(0.2)
    ran = running.finish(sent, began=running.interrupt(), seen=seen)
    assert ran.reply["ename"] == "KeyboardInterrupt"
    assert ran.seconds < SOON
    assert running.value("2 + 2") == "4"


def test_a_question_is_answered_over_stdin(running, scripted):
    server = scripted(call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]}), say("Blue it is."))
    asked = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "2"

    ran = running.run(running.prompt("Paint."), answer=answer)
    assert ran.status == "ok", ran.error
    assert "Red or blue?" in asked[0]
    assert "blue" in next(m["content"] for m in server.requests[-1].messages if m["role"] == "tool")


def test_an_interrupted_question_leaves_nothing_that_takes_the_next_answer(running, scripted):
    took = []
    for _ in range(TIMES):
        scripted(call("clarify", {"question": "Red or blue?"}), say("Here again."))
        sent = running.send(running.prompt("Paint."), stdin=True)
        assert "Red or blue?" in running.client.get_stdin_msg(timeout=20)["content"]["prompt"]
        ran = running.finish(sent, began=running.interrupt())
        took.append(ran.seconds)
        assert ran.reply["ename"] == "KeyboardInterrupt"
        ran = running.run(running.python("print('got', input('name? '))"), answer=lambda _: "Ada")
        assert ran.stdout == "got Ada\n"
    print(f"in a question: {sorted(round(each, 3) for each in took)}")
    assert median(took) < SOON


def test_a_headless_run_waits_for_nobody(running, scripted):
    scripted(call("clarify", {"question": "Red or blue?"}), say("I chose."))
    ran = running.run(running.prompt("Paint."), timeout=15)
    assert ran.status == "ok", ran.error
    assert "I chose." in ran.text


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ask('Hello?')", "The conversation is kept"),
        ("map('What is $value?', ['a', 'b'])", "What was answered is kept: map again"),
        ("delegate(['a', 'b'])", "What the subagents had done until then is in their sessions"),
    ],
)
def test_an_interrupt_of_a_cell_that_awaits_an_agent_of_its_own_is_one_line(running, scripted, code, words):
    server = scripted(forever(late(say("Never."), 30)))
    assert running.run(running.python("from hermes_kernel import Agent\nown = Agent()")).status == "ok"
    base = running.run(running.python(f"own.configure(base_url={server.url!r})"))
    assert base.status == "ok", base.error
    sent = running.send(running.python(f"await own.{code}"))
    assert server.await_requests(1)
    ran = running.finish(sent, began=running.interrupt())
    assert ran.status == "error"
    assert words in ran.error
    assert len(ran.error.splitlines()) == 1
    assert running.value("own.busy") == "False"
