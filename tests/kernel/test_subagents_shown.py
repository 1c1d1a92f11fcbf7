"""What a person sees of subagents: a line for each below the call they work for, live, and the same lines when it is over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from hermes_kernel.testing import Request, Server, Step, call, calls, late, say

CHILD = "You are a subagent"
WORDS = ["Paragraph about **ducks** and ponds, and bread.\n\n"] * 400


def serve(child: Callable[[str], Step], tasks: list[object], answer: Step) -> Callable[[Request], Step]:
    """A model that hands `tasks` over and then answers; what a subagent says follows from its task."""

    def step(request: Request) -> Step:
        system, last = str(request.messages[0]["content"]), request.messages[-1]
        if CHILD in system:
            return child(str(next(m["content"] for m in request.messages if m["role"] == "user")))
        return answer if last["role"] == "tool" else call("delegate", {"tasks": tasks})

    return step


def birds(task: str) -> Step:
    if "geese" in task:
        return call("no_such_tool", {})
    return say("SECRET words of a subagent.")


BIRDS = [{"task": f"Count the {bird}.", "name": bird, "budget": 2} for bird in ("ducks", "geese", "swans")]
LINES = [
    "    ✓ ducks  1 of 2 calls",
    "    ✗ geese  budget exhausted  2 of 2 calls",
    "    ✓ swans  1 of 2 calls",
    "[completed · 6 of 12 calls · 1 tool · 3 subagents]",
]


@pytest.mark.parametrize("cell_id", ["", "c1"], ids=["still", "live"])
def test_when_it_is_over_each_subagent_is_a_line_and_none_speaks_for_its_parent(running, cell_id):
    with Server(serve(birds, BIRDS, say("There are six."))) as server:
        running.ask_server(server)
        ran = running.run(running.prompt("Count.", "--no-cells --budget 12"), cell_id=cell_id)
    assert ran.status == "ok", ran.error
    shown = "\n".join(ran.shown())
    assert [line for line in shown.splitlines() if line.startswith(("    ", "["))] == LINES
    assert "There are six." in shown
    said, _, folded = "".join([*ran.shown("text/markdown"), *ran.shown("text/html")]).partition("<details")
    assert "SECRET" not in shown + said
    assert "SECRET" in folded, "what they reported is what the call gave"


def test_while_they_work_each_says_what_it_is_at_and_the_budget_what_is_out(running):
    slow = serve(lambda _: late(say("Two."), 2.2), BIRDS[:2], say("Both."))
    with Server(slow) as server:
        running.ask_server(server)
        ran = running.run(running.prompt("Count.", "--no-cells --budget 12"), cell_id="c1")
    told = _said_live(ran.messages)
    assert "ducks · thinking" in told
    assert "geese · thinking" in told
    assert "2 of 2 subagents at work" in told
    assert "1 spent · 4 leased to 2 subagents · 7 left of 12" in told
    ended = ran.shown("text/html")[0]
    assert "✓ ducks" in ended
    assert "leased" not in ended
    assert all("widget-view" not in str(each["data"]) for each in ran.of("execute_result"))


def test_eight_subagents_that_stream_at_once_cost_a_front_end_next_to_nothing(running):
    child, reply = say(WORDS, gap=0.004), WORDS * 8  # as much as the eight say together
    with Server(serve(lambda _: child, [f"part {n}" for n in range(8)], say(reply))) as server:
        running.ask_server(server)
        ran = running.run(running.prompt("Write.", "--no-cells"), cell_id="c1", timeout=90)
    assert ran.status == "ok", ran.error
    size = sum(len(json.dumps(message["content"])) for message in ran.messages)
    assert size <= 3 * sum(map(len, reply))


def test_what_subagents_did_is_listed_with_their_parent_and_counted_with_it(running):
    with Server(serve(birds, BIRDS, say("There are six."))) as server:
        running.ask_server(server)
        running.run(running.prompt("Count.", "--no-cells --budget 12"))
        shown = running.run("%hermes show").text
        assert re.search(r"^  \w{12}  completed  1 of 2 calls  ducks$", shown, re.MULTILINE)
        assert re.search(r"^  \w{12}  budget exhausted  2 of 2 calls  geese$", shown, re.MULTILINE)
        child = re.search(r"^  (\w{12})  completed", shown, re.MULTILINE)[1]
        assert "a subagent of" in running.run(f"%hermes show {child}").text
        assert child not in running.run("%hermes sessions").text
        assert re.search(rf"{child}.*subagent", running.run("%hermes sessions all").text)
        used = running.run("%hermes usage").text
    # the parent's two calls, one of each that answered, and two of the one whose calls were used up
    assert re.search(r"model calls\s+6\s+6", used)


def test_a_failing_tool_of_a_hostile_name_stays_text(running):
    task = {"task": "<img src=x onerror=alert(1)>", "name": "<script>window.hacked=1</script>", "budget": 2}
    with Server(serve(lambda _: say("Fine."), [task], say("Done."))) as server:
        running.ask_server(server)
        ran = running.run(running.prompt("Go.", "--no-cells"), cell_id="c1")
    html = "".join(ran.shown("text/html"))
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "<img" not in html


def _said_live(messages: list[dict[str, object]]) -> str:
    """Everything a status line ever said: its HTML goes over a comm once there are widgets, else in displays."""
    return json.dumps([message["content"] for message in messages], ensure_ascii=False)


PEEK = """
import asyncio
from hermes_kernel import tool

@tool
async def peek() -> str:
    "What the budget is while others work."
    while not (leases := get_ipython().run_line_magic("hermes", "budget").value.leases):
        await asyncio.sleep(0.05)
    return str(get_ipython().run_line_magic("hermes", "budget"))
"""


def test_the_budget_command_tells_what_is_out_while_it_is(running):
    def answer(request: Request) -> Step:
        if CHILD in str(request.messages[0]["content"]):
            return late(say("Two."), 1.0)
        if request.messages[-1]["role"] == "tool":
            return say(str([m["content"] for m in request.messages if m["role"] == "tool"][-1]))
        return calls([("delegate", {"tasks": BIRDS[:2]}), ("peek", {})])

    running.run(running.python(PEEK))
    with Server(answer) as server:
        running.ask_server(server)
        ran = running.run(running.prompt("Count.", "--no-cells --budget 12"))
        running.run(running.python("del peek"))
    assert re.search(r"leased to 'ducks'\s+2", ran.text)
    assert re.search(r"leased to 'geese'\s+2", ran.text)
    assert re.search(r"^left\s+7$", ran.text, re.MULTILINE)
