"""Where no IPython is: a script with asyncio, one without, and Python by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from hermes_kernel.testing import Server, call, late, say

WITH_LOOP = """
import asyncio
from contextlib import aclosing
from hermes_kernel import Agent, tool
from hermes_kernel.core.events import TextDelta

@tool
def price(sku: str) -> float:
    "Look up a price."
    return {"A1": 3.0}[sku]

async def main():
    agent = Agent(tools=[price])
    async with aclosing(agent.stream("What does A1 cost?")) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                print(event.text, end="", flush=True)
    print()
    print(agent.turn.outcome.value)
    agent.close()

if __name__ == "__main__":
    asyncio.run(main())
"""
WITHOUT = "from hermes_kernel import Agent\nagent = Agent()\nprint(agent.ask_sync('Hi.').text)\nagent.close()\n"


pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def known(tmp_path: Path) -> dict[str, str]:
    """An environment with a home of its own."""
    return os.environ | {
        "HERMES_HOME": str(tmp_path / "home"), "HERMES_MODEL": "scripted", "HERMES_API_KEY": "none",
        "HERMES_LEARNING": "off", "HERMES_SCHEDULE_WATCH": "off", "TERM": "dumb", "NO_COLOR": "1",
        "PYTHON_BASIC_REPL": "1",
    }  # fmt: skip


def run(code: str, folder: Path, known: dict[str, str]) -> str:
    (folder / "asking.py").write_text(code)
    asked = [sys.executable, "-W", "error", "asking.py"]
    done = subprocess.run(asked, cwd=folder, env=known, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_a_script_streams_a_turn_and_leaves_nothing_open(known, tmp_path):
    with Server([call("price", {"sku": "A1"}), say("It costs 3 EUR.")]) as server:
        assert run(WITH_LOOP, tmp_path, known | {"HERMES_BASE_URL": server.url}) == "It costs 3 EUR.\ncompleted\n"
        assert server.requests[-1].results == ["3.0"]


def test_a_script_without_a_loop_asks_and_goes(known, tmp_path):
    with Server([say("Hello.")]) as server:
        assert run(WITHOUT, tmp_path, known | {"HERMES_BASE_URL": server.url}) == "Hello.\n"


def test_ctrl_c_stops_the_turn_of_a_script_which_goes_on(known, tmp_path):
    with Server([late(say("Never."), 300)]) as server:
        (tmp_path / "asking.py").write_text(WITHOUT.replace(".text", ".outcome.value"))
        asked = subprocess.Popen(
            [sys.executable, "asking.py"], cwd=tmp_path, env=known | {"HERMES_BASE_URL": server.url},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert server.await_requests(1, 120)
        asked.send_signal(signal.SIGINT)
        said, _ = asked.communicate(timeout=120)
        assert (asked.returncode, said) == (0, "interrupted\n")


def test_python_by_hand_asks_and_goes_on(known):
    with Server([say("Hello there."), say("Still here.")]) as server:
        child = pexpect.spawn(
            sys.executable, ["-q"], env=known | {"HERMES_BASE_URL": server.url}, encoding="utf-8", timeout=180
        )
        child.expect_exact(">>> ")
        for line, answer in (
            ("from hermes_kernel import Agent; agent = Agent()", ">>> "),
            ("print(agent.ask_sync('Hi.').text)", "Hello there."),
            ("print(agent.ask_sync('Hi.').text)", "Still here."),
            ("agent.close()", ">>> "),
        ):
            child.sendline(line)
            child.expect_exact(answer)
        child.sendline("exit()")
        child.expect(pexpect.EOF)


def test_the_loop_of_python_by_hand_is_the_agents(known):
    with Server([say("Hello there.")]) as server:
        asked = ["-m", "asyncio"]
        ours = known | {"HERMES_BASE_URL": server.url}
        child = pexpect.spawn(sys.executable, asked, env=ours, encoding="utf-8", timeout=180)
        child.expect_exact(">>> ")
        child.sendline("from hermes_kernel import Agent; agent = Agent()")
        child.expect_exact(">>> ")
        child.sendline("print((await agent.ask('Hi.')).text)")
        child.expect_exact("Hello there.")
        child.sendline("exit()")
        child.expect(pexpect.EOF)
