"""Conversations that outgrow the model's window, as a person in a notebook meets them: compressed, read, searched, stopped."""

from __future__ import annotations

import time

import pytest

from hermes_kernel.testing import Server, call, late, say
from tests.kernel.conftest import Kernel
from tests.soon import SOON

RECORD = "record of a conversation"  # what the summariser is told it keeps
SUMMARY = (
    "## Goal and constraints\n- Watch the herons.\n\n## Facts to keep word for word\n- The gate's code is 4711 <b>."
)


def answers(request, seconds=0.0):
    """A summary takes so long; all else is answered at once."""
    if RECORD in request.messages[0]["content"]:
        return late(say(SUMMARY), seconds)
    return say("The herons stand in the reeds and wait. " * 30)


@pytest.fixture
def watched(running) -> Kernel:
    """A kernel with a conversation of seven turns, the code of the gate in the second."""
    running.run("%config HermesMagics.protect_last = 4")
    with Server(answers) as server:
        running.ask_server(server)
        for n in range(7):
            told = "The gate's code is 4711." if n == 1 else f"Day {n}."
            assert running.run(running.prompt(f"{told} {'They stand. ' * 60}", "--no-cells")).status == "ok"
        yield running
    running.run("%config HermesMagics.protect_last = 20")


def test_a_conversation_is_compressed_on_request_and_is_still_one(watched):
    before = watched.value("_.session_id").strip("'")
    watched.run("%hermes title Herons")
    ran = watched.run("%hermes compress the gate", cell_id="c")
    assert ran.status == "ok", ran.error
    assert "earlier messages were summarised" in ran.shown()[-1]
    assert "tokens" in ran.shown("text/html")[-1]
    assert watched.value("_.how") == "'summary'"
    after = watched.run("%hermes status").text
    assert "`%hermes show summary`" in after
    assert before not in after
    assert watched.run(watched.prompt("And now?", "--no-cells")).status == "ok"
    now = watched.value("_.session_id").strip("'")
    listed = watched.run("%hermes sessions 1").text
    assert "Herons" in listed
    assert now[:12] in listed
    assert before[:12] not in watched.run("%hermes sessions 50").text
    assert before[:12] in watched.run("%hermes sessions 50 all").text


def test_a_compressed_conversation_is_read_whole_and_its_summary_opened(watched):
    watched.run("%hermes compress")
    watched.run(watched.prompt("And now?", "--no-cells"))
    shown = watched.run("%hermes show").text
    assert "which was compressed" in shown
    assert "Day 3." not in shown
    whole = watched.run("%hermes show all")
    places = [whole.text.index(words) for words in ("Day 0.", "4711", "Day 6.", "since a compression", "And now?")]
    assert places == sorted(places)
    summary = watched.run("%hermes show summary")
    assert summary.text.index("- Watch the herons.") < summary.text.index("The gate's code is 4711. They stand.")
    assert "Day 0." not in summary.text.partition("summary\n")[2], "the first messages were not taken out"
    assert "4711 &lt;b&gt;" in summary.of("execute_result")[0]["data"]["text/html"]
    found = watched.run("%hermes search gate 4711").text
    assert "**4711**" in found


def test_a_second_compression_opens_to_everything_the_first_one_stood_for(watched):
    watched.run("%hermes compress")
    for n in range(7, 12):
        watched.run(watched.prompt(f"Day {n}. {'They stand. ' * 60}", "--no-cells"))
    assert watched.run("%hermes compress").status == "ok"
    summary = watched.run("%hermes show summary").text
    places = [summary.index(words) for words in ("[1] user", "4711. They", "Day 3.", "Day 8.")]
    assert places == sorted(places)
    assert summary.count("since a compression") == 0
    whole = watched.run("%hermes show all").text
    assert whole.count("since a compression") == 2


def test_a_compression_is_stopped_like_a_turn_and_changes_nothing(watched):
    session = watched.value("_.session_id").strip("'")
    with Server(lambda request: answers(request, 30.0)) as slow:
        watched.run(f"%config HermesMagics.base_url = {slow.url!r}")
        sent = watched.send("%hermes compress", cell_id="c")
        slow.await_requests(1)
        seen = watched.until(sent, "compressing the conversation")
        pressed = time.perf_counter()
        watched.interrupt()
        ran = watched.finish(sent, began=pressed, seen=seen)
    assert ran.status == "error"
    assert "the conversation is as it was" in ran.error
    assert ran.seconds < SOON
    assert session in watched.run("%hermes status").text


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes compress", "Nothing has been said in this conversation yet"),
        ("pass\n%hermes compress", "so it stands alone in its cell"),
        ("%hermes show summary", "Nothing has been said in this conversation yet"),
    ],
)
def test_what_cannot_be_compressed_is_said_in_one_line(running, code, said):
    running.run("%hermes new")
    ran = running.run(running.python(code) if "\n" in code else code)
    assert said in ran.error
    assert ran.error.count("\n") == 0


def test_a_conversation_without_a_summary_says_so(running, scripted):
    scripted(call("todo", {"items": ["look"]}), say("Seen."))
    running.run(running.prompt("Look.", "--no-cells"))
    assert "There is no summary in this conversation" in running.run("%hermes show summary").error
