"""``%hermes usage`` and ``%hermes budget``: charts beside their figures, and panels, pressed as in a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from hermes_kernel.core.events import Asked, Final, Opened, Outcome, Replied
from hermes_kernel.core.messages import Usage
from hermes_kernel.testing import call, say
from hermes_kernel.world.store import Store
from tests.kernel.pressing import Page

EVIL = "<b>model</b>"
SVG = "{http://www.w3.org/2000/svg}"


def sums(html: str) -> list[str]:
    """The figures at the ends of the bars of the first chart, as its own elements have them."""
    found = re.search(r"<svg role=\"img\".*?</g></svg>", html)
    assert found, html[:400]
    return [each.text or "" for each in ET.fromstring(found[0]).iter(f"{SVG}text") if each.get("x") == "100%"]


@pytest.fixture
def used(running, scripted) -> None:
    """A turn of this conversation, and what another process used of a model with a bad name."""
    scripted(say("Yes."))
    running.run(running.prompt("Go.", "--no-cells"))
    log = Store(running.home)
    usage = Usage(1, 7_000_000, 500, 3_000_000, cost=0.25)
    session = running.value("_.session_id").strip("'")[:6] + "beside"
    log.append(session, Opened(session, kind="curator"), Asked("Go."), Replied("x", usage=usage, model=EVIL))
    log.append(session, Final(Outcome.COMPLETED, "x"))
    log.close()


def test_the_chart_says_what_the_table_says(running, used):
    ran = running.run("%hermes usage model")
    assert ran.status == "ok", ran.error
    (page,) = ran.shown("text/html")
    rows = {line.split("  ")[0]: line.split() for line in ran.text.splitlines() if line.strip()}
    taken, written = (int(rows[EVIL][at].replace(",", "")) for at in (3, 5))
    assert sums(page)[0] == f"{taken + written:,}"
    assert "cost in US$ by model" in page
    assert "input from a cache" in page
    assert "<b>" not in page
    assert "<svg" not in ran.text
    running.run(running.python("table = %hermes usage model"))
    assert running.value("[row[0] for row in table][-1]") == "'total'"
    (page,) = running.run("%hermes usage").shown("text/html")
    assert len(sums(page)) >= 2, "the last turn and the conversation"


def test_what_and_of_how_many_days_is_chosen_and_read_aside(running, used):
    panel = Page(running).show("%hermes usage")
    panel.choose("Usage of", "all, by model")
    panel.says("tokens by model")
    panel.says("&lt;b&gt;model&lt;/b&gt;")
    panel.choose("In", "the last 7 days")
    panel.says("tokens by model, last 7 days")
    panel.choose("Usage of", "this conversation")
    panel.says("last turn")
    assert "<b>model" not in panel.html()


def test_a_panel_opens_on_what_was_asked_for_and_ends_as_the_document_of_what_was_chosen(running, used):
    panel = Page(running).show("%hermes usage day 3 days")
    panel.says("tokens by day, last 3 days")
    assert "the last 3 days" in panel.labels("In")
    panel.choose("Usage of", "all, by kind")
    panel.says("tokens by kind, last 3 days")
    after = Page(running).show("%hermes usage")
    assert "curator" in after.outputs[0]["text/plain"], "the panel before is a document now"
    assert "<svg" in after.outputs[0]["text/html"]


def test_the_budget_has_a_meter_and_a_bar_for_each_turn(running, scripted):
    scripted(call("todo", {"items": []}), say("One."), say("Two."))
    running.run("%hermes budget 20")
    running.run(running.prompt("First <i>", "--no-cells"))
    running.run(running.prompt("Second", "--no-cells"))
    ran = running.run("%hermes budget")
    assert ran.status == "ok", ran.error
    assert "used by the last turn" in ran.text
    (page,) = ran.shown("text/html")
    assert "1 spent · 19 left of 20" in page
    assert sums(page) == ["2", "1"]
    assert "turn 1: First &lt;i&gt;" in page


def test_how_many_calls_a_turn_has_is_set_in_the_panel_and_a_wrong_number_is_refused_by_its_range(running, scripted):
    scripted(say("One."))
    running.run(running.prompt("First", "--no-cells"))
    panel = Page(running).show("%hermes budget")
    panel.type("Calls a turn may make", "12")
    panel.press("Set")
    panel.says("A turn may make 12 calls from the next one on.")
    panel.type("Calls a turn may make", "none")
    panel.press("Set")
    panel.says("a whole number from 1 to 100,000")
    assert "12" in running.run("%hermes budget").text
    running.run("%hermes budget 90")
