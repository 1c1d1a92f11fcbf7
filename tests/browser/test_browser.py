"""JupyterLab in a real browser: a person sees the answer grow, presses Stop, asks again, and answers a question.

Needs node and Chromium (``apt-get install chromium``).
"""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from hermes_kernel.testing import Server, call, say
from tests.browser.lab import KERNELS, MARKS
from tests.soon import SOON

pytestmark = MARKS

SLOW = [f"Paragraph {n} about **ducks**, `ponds` and bread.\n\n" for n in range(1, 200)]
TABLE = (
    "Ducks sold best in **March**:\n\n| month | ducks |\n|---|---|\n| February | 12 |\n| March | 31 |\n\n"
    "```python\ndf.groupby('month').ducks.sum()\n```\n\n1. Buy bread.\n2. Find a pond.\n\n"
    '<img src=x onerror="canary(1)"><script>canary(1)</script>\n'
)


PROMPTS = ("Tell me all about ducks.", "Which month sold best? Use python.", "Paint the pond.", "Frame it.")


@pytest.mark.parametrize("kernel", KERNELS[1:3], ids=str)
def test_a_person_sees_the_answer_grow_and_stops_it_and_asks_again(lab, kernel):
    steps = [
        say(SLOW, gap=0.15),
        call("python", {"code": "6 * 7"}),
        say([TABLE[n : n + 12] for n in range(0, len(TABLE), 12)], gap=0.03),
        call("clarify", {"question": "Red or <b>blue</b>?", "choices": ["red", "blue"]}),
        say("You chose blue."),
        call("clarify", {"question": "What shall stand above it? " + "Some like it long. " * 12}),
        say("It is framed."),
    ]
    with Server(steps) as server:
        path = lab.notebook("turns", kernel, server.url, [kernel.ask(prompt) for prompt in PROMPTS])
        seen = lab.drive("drive.mjs", path)
        tool_results = [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"]
    assert "Stop" in seen["streaming"]
    assert "writing" in seen["streaming"]
    assert "interrupted" in seen["stopped"]
    assert "Interrupted. The conversation is kept" in seen["stopped"]
    assert seen["stopped_ms"] < SOON * 1000
    assert seen["buttons_left"] == 0
    assert "March" in seen["answer"]
    assert "completed · 2 of 90 calls" in seen["answer"]
    assert "<script>canary(1)</script>" in seen["answer"]
    assert seen["hacked"] == []
    assert "You chose blue." in seen["clarified"]
    assert "blue" in tool_results[-2]
    assert seen["room_right_of_stop"] >= 0
    assert "It is framed." in seen["entered"]
    assert "Ponds" in tool_results[-1]
    assert seen["remote"] == []
    _saved_is_small_and_plain(path)


def _saved_is_small_and_plain(path: Path) -> None:
    saved = nbformat.read(path, as_version=4)
    answer = saved.cells[2].outputs
    assert all("application/vnd.jupyter.widget-view+json" not in each.get("data", {}) for each in answer)
    text = "\n\n".join(each["data"]["text/markdown"] for each in answer if "text/markdown" in each.get("data", {}))
    assert text.startswith("Ducks sold best in **March**:")
    assert len(json.dumps(answer)) < 6000
