"""JupyterLab in a real browser: subagents at work, stopped and over; a map and its bar; a compression; all after a reload."""

from __future__ import annotations

import pytest

from hermes_kernel.testing import Request, Server, Step, call, late, say
from tests.browser.lab import MARKS, OLDEST, Kernel
from tests.soon import SOON

pytestmark = MARKS

TASKS = [{"task": f"Count the {bird}.", "name": f"{bird} <b>bold</b>"} for bird in ("ducks", "geese", "swans")]
PROMPTS = ["Count the birds.", "Count them again."]
MAP = "%%hermes --map rows --workers 2 --as answers\nWhat is the young of a $value, and of another $value?"


def answer(request: Request) -> Step:
    system, last = str(request.messages[0]["content"]), request.messages[-1]
    if "You are a subagent" in system:
        return late(say("Two."), 60.0 if "again" in str(last["content"]) else 5.0)
    if "record of a conversation" in system:
        return late(say("## Goal and constraints\n- Count the birds of the pond."), 1.5)
    if "one row of a table" in system:
        return late(say("A chick for $5, or $6."), 0.6)
    if last["role"] == "tool":
        return say("Six birds, for $5 or $6. " * 100)
    again = " again" if "again" in str(last["content"]) else ""
    tasks = [{**task, "task": task["task"] + again} for task in TASKS]
    return call("delegate", {"tasks": tasks})


@pytest.mark.parametrize("kernel", OLDEST, ids=str)
def test_a_person_sees_subagents_a_map_and_a_compression_and_finds_them_after_a_reload(lab, kernel):
    with Server(answer) as server:
        path = lab.notebook("teams", kernel, server.url, _cells(kernel), protect_first=0, protect_last=2)
        seen = lab.drive("teams.mjs", path)
    for bird in ("ducks", "geese", "swans"):
        assert f"▸ {bird} <b>bold</b> · thinking" in seen["working"]
    assert "3 of 3 subagents at work" in seen["working"]
    assert "leased to 3 subagents" in seen["working"]
    assert seen["stopped_ms"] < SOON * 1000
    assert "interrupted" in seen["stopped"]
    assert seen["buttons_left"] == 0
    assert 0 < seen["bar"] < 100
    assert "done · 8 of 8 rows · 8 calls" in seen["mapped"]
    assert "What is the young of a $value" in " ".join(seen["titles"].split())
    assert "A chick for $5, or $6." in seen["answers"]
    assert seen["formulas"] == 0
    assert "compressing the conversation" in seen["compressing"]
    assert "earlier messages were summarised" in seen["compressed"]
    for text in (seen["ended"], seen["reloaded"]):
        assert "✓ ducks <b>bold</b>" in text
        assert "1 tool · 3 subagents" in text
    assert "8 of 8 rows" in seen["reloaded"]
    assert seen["remote"] == []


def _cells(kernel: Kernel) -> list[str]:
    # other rows in each kernel: what was answered in this home is not asked again
    rows = kernel.py(f"rows = [f'{kernel} bird {{n}}' for n in range(8)]")
    return [rows, *map(kernel.ask, PROMPTS), MAP, "%hermes compress", "%hermes sessions all", kernel.py("answers")]
