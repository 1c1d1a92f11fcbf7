"""The same cells in two kernels, in other folders, homes, time zones and at another time, show the same to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel.testing import Request, Server, Step, call, calls, late, say
from tests.kernel.conftest import LAUNCH, PYTHONS, Kernel, Ran

TOOL = """
import time
from hermes_kernel import tool
@tool
def slow(seconds: float, name: str) -> str:
    "Wait."
    time.sleep(seconds)
    return f"{name} done"
"""
PROMPT, COMMAND, PYTHON = "prompt", "command", "python"
CELLS = (
    (COMMAND, "%hermes budget"),
    (PYTHON, TOOL),
    (PROMPT, "Say hello."),
    (PROMPT, "Use your tools."),
    (PROMPT, "Use subagents."),
    (PROMPT, "Remember what I like."),
    (PROMPT, "Say much."),
    (COMMAND, "%hermes sessions"),
    (COMMAND, "%hermes sessions all"),
    (COMMAND, "%hermes show last"),
    (COMMAND, "%hermes timeline"),
    (COMMAND, "%hermes usage"),
    (COMMAND, "%hermes loops"),
    (COMMAND, "%hermes memory"),
    (COMMAND, "%hermes skills"),
    (COMMAND, "%hermes curator"),
    (COMMAND, "%hermes search hello after:yesterday"),
    (COMMAND, "%hermes branch"),
    (COMMAND, "%hermes new"),
    (PROMPT, "Say hello again."),
    (COMMAND, "%hermes undo"),
    (COMMAND, '%hermes schedule "every day at 9" "Say hello."'),
    (COMMAND, "%hermes schedule next 'tomorrow at 9'"),
    (COMMAND, "%hermes jobs"),
    (COMMAND, "%hermes runs"),
    (COMMAND, "%hermes spec off"),
)


def answer(request: Request) -> Step:
    asked = next(str(each["content"]) for each in reversed(request.messages) if each["role"] == "user")
    done = request.messages[-1]["role"] == "tool"
    if "You are a subagent" in str(request.messages[0]["content"]):
        n = int(asked.split()[-1])
        return (
            late(say(f"Part {n} is done."), 0.1 * (7 * n % 4)) if done or n % 2 else call("terminal", {"command": ":"})
        )
    if "tools" in asked and not done:
        waits = [("slow", {"seconds": seconds, "name": f"after {seconds}"}) for seconds in (0.5, 0.1, 0.3)]
        return calls(
            [*waits, ("python", {"code": "print(1)\nobject();"}), ("python", {"code": "1/0"}), ("nothing", {})]
        )
    if "subagents" in asked and not done:
        return call("delegate", {"tasks": [f"do part {n}" for n in range(5)]})
    if "Remember" in asked and not done:
        return call("memory", {"action": "add", "target": "memory", "content": "They like tables."})
    if "much" in asked and not done:
        return call("terminal", {"command": "seq 1 20000"})
    return say("Hello." if "hello" in asked else "Done.")


def shown(ran: Ran) -> list[str]:
    """All that a cell shows, as it is sent."""
    kinds = ("display_data", "update_display_data", "execute_result", "stream", "error")
    told = [(kind, message) for message in ran.messages if (kind := message["header"]["msg_type"]) in kinds]
    parts = {"stream": ("name", "text"), "error": ("ename", "evalue", "traceback")}
    return [
        json.dumps(
            [kind, *(message["content"][part] for part in parts.get(kind, ("data", "metadata")))], sort_keys=True
        )
        for kind, message in told
    ]


@pytest.fixture
def kernels(tmp_path: Path) -> Iterator[Callable[..., tuple[Kernel, Server]]]:
    with ExitStack() as leaving:

        def start(name: str, folder: Path, **environ: str) -> tuple[Kernel, Server]:
            folder.mkdir()
            server = leaving.enter_context(Server(answer))
            kernel = Kernel(name, PYTHONS[0], folder, HERMES_BASE_URL=server.url, HERMES_SPEC="on", **environ)
            leaving.callback(kernel.close)
            return kernel, server

        yield start


def cells_of(kernel: Kernel) -> list[tuple[str, list[str]]]:
    write = {PROMPT: kernel.prompt, PYTHON: kernel.python, COMMAND: str}
    return [(text, shown(kernel.run(write[kind](text), timeout=60))) for kind, text in CELLS]


@pytest.mark.parametrize("name", LAUNCH)
def test_the_same_cells_show_the_same_in_any_kernel_home_and_zone(tmp_path: Path, kernels: Any, name: str) -> None:
    """The second time in a private home, which leaves a person's as it was."""
    one, _ = kernels(name, tmp_path / "one", TZ="Asia/Tokyo", PYTHONHASHSEED="1")
    first = cells_of(one)
    person = tmp_path / "person"
    (person / ".hermes/memories").mkdir(parents=True)
    (person / ".hermes/memories/MEMORY.md").write_text("They like charts.", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in person.rglob("*")}
    elsewhere = {
        "TMPDIR": str(tmp_path),
        "HERMES_HOME": "",
        "HOME": str(person),
        "TZ": "America/Lima",
        "PYTHONHASHSEED": "2",
    }
    other, _ = kernels(name, tmp_path / "another-one", **elsewhere)
    second = cells_of(other)
    assert dict(first) == dict(second)
    assert {path: path.stat().st_mtime_ns for path in person.rglob("*")} == before
    told = dict(first)
    assert "can be set only before the first turn" in told["%hermes spec off"][0]
    assert any("They like tables." in each for each in told["%hermes memory"])
    assert sum("do part" in each for each in told["%hermes sessions all"]) == 1
    assert all(told[text] for kind, text in CELLS if kind != PYTHON)
