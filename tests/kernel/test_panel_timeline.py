"""``%hermes timeline``: as a document everywhere, and as a panel in a notebook, pressed as in a page."""

from __future__ import annotations

import pytest

from hermes_kernel.testing import calls, say, stall
from tests.kernel.pressing import Page

VIEW = "application/vnd.jupyter.widget-view+json"
EVIL = "</title></svg><img src=x onerror=alert(1)>"


def played(running, scripted) -> str:
    """Two turns: one with two tools, and a plain one. The session's id."""
    scripted(calls([("python", {"code": "1 + 1"}), ("todo", {"items": []})]), say("Two."), say("Yes."))
    running.run(running.prompt(f"Add {EVIL}", "--no-cells"))
    ran = running.run(running.prompt("Again?", "--no-cells"))
    assert ran.status == "ok", ran.error
    return running.value("_.session_id").strip("'")


def test_the_last_turn_another_one_and_all_of_them_are_documents_and_values(running, scripted):
    session = played(running, scripted)
    last = running.run("%hermes timeline")
    assert last.status == "ok", last.error
    assert "turn 2: Again?" in last.text
    assert "call 1" in last.text
    first = running.run("%hermes timeline turn 1")
    lines = first.shown()[0].splitlines()
    assert [line.split(":")[0].split("  ")[0] for line in lines[2:-1]] == ["call 1", "python", "todo", "call 2"]
    (page,) = first.shown("text/html")
    assert '<svg role="img"' in page
    assert "<details><summary" in page
    assert "<img" not in page
    assert "<script" not in page
    running.run(running.python(f"whole = %hermes timeline {session[:8]} all"))
    assert running.value("[span.name for span in whole.value.spans if not span.depth][1]") == "'turn 2: Again?'"
    assert running.value("whole.value.seconds > 0") == "True"


def test_what_cannot_be_shown_is_one_line(running, scripted):
    scripted(say("Yes."))
    empty = running.run("%hermes timeline")
    assert empty.status == "error"
    assert "Nothing has been said in this conversation yet." in empty.reply["evalue"]
    running.run(running.prompt("Go.", "--no-cells"))
    for line, said in (
        ("turn 2", "There is no turn 2: this conversation has 1 turn."),
        ("turn soon", "timeline takes a conversation's id"),
        ("nobody", "nobody"),
    ):
        ran = running.run(f"%hermes timeline {line}")
        assert ran.status == "error"
        assert said in ran.reply["evalue"]
        assert ran.error.count("\n") <= 1


@pytest.fixture
def panel(running, scripted) -> Page:
    played(running, scripted)
    return Page(running).show("%hermes timeline")


def test_a_turn_is_chosen_and_its_picture_is_there(panel):
    panel.says("turn 2: Again?")
    panel.until(lambda page: len(page.labels("Show")) == 4)
    assert panel.labels("Show")[:3] == ["the last turn", "all turns", "turn 2: Again?"]
    panel.choose("Show", "turn 1")
    panel.says("python: 1 + 1")
    panel.choose("Show", "all turns")
    panel.says("Time between turns is left out.")
    assert "<img" not in panel.html()


def test_a_panel_is_a_document_as_well_and_becomes_the_one_that_was_chosen(panel, running):
    (shown,) = (each for each in panel.outputs if VIEW in each)
    assert "turn 2: Again?" in shown["text/plain"]
    panel.choose("Show", "turn 1")
    panel.says("python: 1 + 1")
    before, after = Page(running).show("%hermes timeline all").outputs
    assert VIEW not in before
    assert "python: 1 + 1" in before["text/plain"]
    assert "<svg" in before["text/html"]
    assert VIEW in after


def test_a_turn_that_goes_on_is_read_as_far_as_it_is(running, scripted):
    scripted(say("Yes."), stall("one two", after=1, seconds=60))
    running.run(running.prompt("Go.", "--no-cells"))
    panel = Page(running).show("%hermes timeline")
    panel.until(lambda page: len(page.labels("Show")) == 3)
    sent = running.send(running.prompt("Wait for it.", "--no-cells"), cell_id="c2")
    running.until(sent, "one")
    panel.press("Read again")
    panel.says("turn 2: Wait for it.")
    panel.says("not finished")
    running.interrupt()
    assert running.finish(sent).status == "error"
