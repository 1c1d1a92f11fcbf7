"""``jupyter console``: a front end that names no cell and answers questions, typed at as a person does."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from hermes_kernel.testing import Server, call, forever, late, say

KINDS = {
    "hermes": ["-m", "hermes_kernel.kernel"],
    "python3": ["-m", "ipykernel_launcher"],
}


pytestmark = pytest.mark.timeout(900)


class Console:
    """One that is typed at. Where a prompt is Python's, it takes the magic and two empty lines."""

    def __init__(self, child: pexpect.spawn, kind: str) -> None:
        self.child = child
        self.kind = kind
        self.cells = 0

    def ready(self) -> None:
        """Wait for the next prompt, whatever its colours."""
        self.cells += 1
        self.child.expect(rf"In \[[^\]]*?{self.cells}[^\]]*?\]")

    def type(self, line: str) -> None:
        self.child.send(f"{line}\r")

    def ask(self, prompt: str) -> None:
        for line in (prompt,) if self.kind == "hermes" else ("%%hermes", prompt, "", ""):
            self.type(line)

    def shows(self, words: str) -> None:
        self.child.expect_exact(words)


@pytest.fixture(params=KINDS)
def console(request, tmp_path: Path) -> Iterator[Callable[[Server], Console]]:
    """A console in which the magics are loaded: ``console(server)``."""
    children: list[pexpect.spawn] = []
    spec = tmp_path / "data" / "kernels" / "tried"
    spec.mkdir(parents=True)
    argv = [sys.executable, *KINDS[request.param], "-f", "{connection_file}"]
    interrupt = "message" if request.param == "hermes" else "signal"
    known = {"argv": argv, "display_name": "tried", "language": "python", "interrupt_mode": interrupt}
    (spec / "kernel.json").write_text(json.dumps(known))

    def start(server: Server) -> Console:
        ours = os.environ | {
            "HERMES_HOME": str(tmp_path / "home"), "HERMES_BASE_URL": server.url, "HERMES_MODEL": "scripted",
            "HERMES_API_KEY": "none", "HERMES_LEARNING": "off", "HERMES_SCHEDULE_WATCH": "off",
            "JUPYTER_DATA_DIR": str(tmp_path / "data"), "IPYTHONDIR": str(tmp_path / "ipython"),
            "TERM": "xterm", "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1",
        }  # fmt: skip
        asked = ["-m", "jupyter_console", "--kernel=tried"]
        asked += ["--ZMQTerminalInteractiveShell.kernel_is_complete_timeout=120"]  # a second, before it guesses
        child = pexpect.spawn(sys.executable, asked, env=ours, encoding="utf-8", timeout=180)
        children.append(child)
        typed = Console(child, request.param)
        typed.ready()
        if request.param != "hermes":
            typed.type("%load_ext magics")
            typed.ready()
        return typed

    yield start
    for child in children:
        child.close(force=True)


def test_a_prompt_is_answered_as_text(console):
    with Server([call("python", {"code": "6 * 7"}), say("It is **42**.")]) as server:
        typed = console(server)
        typed.ask("How much?")
        typed.shows("It is **42**.")
        typed.shows("[completed · 2 of 90 calls")


def test_a_question_is_answered_by_typing(console):
    choice = call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]})
    with Server([choice, say("Blue it is.")]) as server:
        typed = console(server)
        typed.ask("Paint.")
        typed.shows("2. blue")
        typed.shows("> ")
        typed.type("2")
        typed.shows("Blue it is.")
        assert "blue" in next(m["content"] for m in server.requests[-1].messages if m["role"] == "tool")


def test_ctrl_c_stops_the_turn_and_the_next_prompt_works(console):
    with Server([late(say("Never."), 60), forever(say("Here again."))]) as server:
        typed = console(server)
        typed.ask("Go.")
        assert server.await_requests(1, 120)
        typed.child.sendintr()
        typed.shows("Interrupted. The conversation is kept")
        typed.ready()
        typed.ask("Again.")
        typed.shows("Here again.")
