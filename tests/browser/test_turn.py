"""The panel of a turn in JupyterLab: its line from thinking to the answer, Stop at every stage, questions by keyboard, a page
loaded anew in the middle, and other widgets beside it.
"""

from __future__ import annotations

import pytest

from hermes_kernel.testing import Request, Server, Step, call, late, rate_limited, say, stall, status
from tests.browser.lab import APART, KERNELS, MARKS
from tests.soon import SOON

pytestmark = MARKS

HALVES = [f"Line {n}: ducks, ponds and bread.\n\n" for n in range(1, 12)] + ["Half of it", " is over.\n\n"]
LINES = [f"Line {n}: ducks, ponds and bread.\n\n" for n in range(1, 14)]
STAGES = {
    "think": "thinking", "silent": "silent", "retry": "retry 1 of", "tool": "tool terminal", "write": "Line 2",
    "wait": "Red or blue?",
}  # fmt: skip
VALUES = """
import ipywidgets
heard = []
slider, words = ipywidgets.IntSlider(description='ducks'), ipywidgets.Text()
for each in (slider, words): each.observe(lambda change: heard.append(str(change.new)), 'value')
ipywidgets.VBox([slider, words])
"""


class Story:
    """What the model says: the end of the prompt tells which scene it is."""

    def __init__(self) -> None:
        self.tries = 0

    def __call__(self, request: Request) -> Step:
        said = str(next(m["content"] for m in reversed(request.messages) if m["role"] == "user"))
        done = request.messages[-1]["role"] == "tool"
        scene = max(SCENES, key=lambda each: said.rfind(f"Scene {each}."))  # a prompt without an answer is asked again
        return SCENES[scene](self, done)

    def ride(self, done: bool) -> Step:
        self.tries += 1
        if self.tries == 1:
            return late(stall(["It ", "begins ", "here.\n\n", "Never."], after=3, seconds=60), 1.5)
        if self.tries == 2:
            return status(500)
        return say(HALVES * 2 + ["The end."], gap=0.1)

    def asked(self, done: bool) -> Step:
        return (
            say("You chose blue.")
            if done
            else call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]})
        )

    def approve(self, done: bool) -> Step:
        return say("They are gone.") if done else call("terminal", {"command": "rm -rf ./no_such_ducks"})

    def reload(self, done: bool) -> Step:
        if done:
            return say("You chose blue.")
        return late_call(LINES)

    def terminal(self, done: bool) -> Step:
        return call("terminal", {"command": "sleep 40"})


def late_call(lines: list[str]) -> Step:
    """Lines, half a second between two of them, and then a question."""
    wanted = call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]})
    told = say(lines, gap=0.7)
    return Step("late_call", (*told.beats[:-1], *wanted.beats), (*told.tells[:-1], *wanted.tells))


SCENES = {
    "ride": Story.ride, "think": lambda *_: late(say("No."), 60), "silent": lambda *_: stall(LINES, after=2, seconds=60),
    "retry": lambda *_: rate_limited(40), "tool": Story.terminal, "write": lambda *_: say(LINES * 9, gap=0.3),
    "wait": Story.asked, "clarify": Story.asked, "approve": Story.approve, "first": lambda *_: say(LINES[:3], gap=0.3),
    "second": lambda *_: say(LINES[:3], gap=0.3), "reload": Story.reload, "again": lambda *_: say(LINES * 9, gap=0.7),
}  # fmt: skip


@pytest.mark.parametrize("kernel", APART, ids=str)
def test_a_turn_is_seen_heard_stopped_answered_and_found_again(lab, kernel):
    cells = {"values": kernel.py(VALUES.strip()), **{scene: kernel.ask(f"Scene {scene}.") for scene in SCENES}}
    looked = kernel == KERNELS[0]
    with Server(Story()) as server:
        path = lab.notebook(
            "turn", kernel, server.url, [*cells.values()], stale_seconds=4, retry_base_seconds=1, max_retries=2
        )
        seen = lab.drive(
            "turn.mjs",
            path,
            at={name: n for n, name in enumerate(cells, 1)},
            stages=STAGES,
            py=kernel.py("{}"),
            looked=looked,
        )
    told = " → ".join(text for _, text in seen["line"])
    print(f"\n{kernel}: stopped after " + ", ".join(f"{name} {each['ms']} ms" for name, each in seen["stops"].items()))
    print(
        f"reloaded: {seen['reload_stop_ms']} ms; Stop moved {seen['steady']['moves']} times; said {seen['spoken']}\n{told}"
    )
    _the_line_goes(told, "thinking", "silent", "retry 2 of 2", "writing")
    assert "The end." in seen["answer"]
    for name, stopped in seen["stops"].items():
        assert stopped["ms"] < SOON * 1000, name
        assert stopped["left"] == 0, name
        assert "interrupted" in stopped["said"], name
    _is_quiet(seen["spoken"])
    assert seen["fonts"] > 0, "no sign was on its way, so the button had nothing to be moved by"
    assert seen["steady"]["moves"] == 0, seen["steady"]
    assert seen["values"].startswith("3 ponds [")
    assert "You chose blue." in seen["clarified"]
    assert "They are gone." in seen["approved"]
    assert all("Line 3" in each for each in seen["both"])
    assert "You chose blue." in seen["reloaded"]
    assert seen["reload_stop_ms"] < SOON * 1000
    assert seen["after"].strip() == "42"
    assert seen["hacked"] == seen["dialogs"] == seen["remote"] == []
    if looked:
        assert [*seen["axe_running"], *seen["axe_asked"], *seen["axe_finished"]] == []
        assert seen["wide_running"] == []
        assert "wide" not in seen, seen["wide"]


def _the_line_goes(told: str, *stages: str) -> None:
    at = 0
    for stage in stages:
        assert stage in told[at:], f"{stage} does not come in {told[at:]}"
        at = told.index(stage, at)


def _is_quiet(spoken: list[tuple[int, str]]) -> None:
    """Not more than one announcement a second, and seconds are not counted aloud."""
    said = [(at, text) for at, text in spoken if text]
    assert len(said) <= (said[-1][0] - said[0][0]) / 1000 + 2, said
    assert not any(text.endswith(" s") for _, text in said), said
