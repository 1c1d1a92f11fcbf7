"""The panel of the curator, pressed as in a page: its plan decided item by item, runs beside whatever else is done."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from hermes_kernel.testing import Server, late, say
from tests.contracts.curated import text
from tests.kernel.conftest import Kernel
from tests.kernel.pressing import Page

LIST = "What is due"
LORE = "get_ipython().magics_manager.registry['HermesMagics'].desk.agent.learning"
LONG_AGO = 1_600_000_000  # when the files of the skills were written
BAIT = "<img src=x onerror=alert(1)>"
KEEP = json.dumps({"verdict": "keep", "reason": f"It is {BAIT} fine."})


@pytest.fixture
def home(running: Kernel):
    """A home in which two of the agent's skills have not been used for long, and one is a person's."""
    for name in ("skills", "proposals", "history", "curator"):
        shutil.rmtree(running.home / name, ignore_errors=True)
    skills = running.home / "skills"
    for name in ("plot", "clean", "mine"):
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_text(text(name, f"Do {name} {BAIT} well."))
        os.utime(skills / name / "SKILL.md", (LONG_AGO, LONG_AGO))
    marks = "; ".join(f"marks.change({name!r}, origin='agent')" for name in ("plot", "clean"))
    assert running.run(running.python(f"marks = {LORE}.skills.marks; {marks}")).status == "ok"
    used = {"view_count": 2, "last_viewed_at": LONG_AGO, "created_by": "agent"}
    (skills / ".usage.json").write_text(json.dumps({"plot": used, "clean": used}))
    return running.home


def opened(running: Kernel, line: str = "%hermes curator") -> Page:
    page = Page(running).show(line)
    page.says("never moves")
    page.quiet()
    return page


def state(running: Kernel, name: str) -> str:
    return running.value(f"str({LORE}.skills.get({name!r}).state)").strip("'")


def test_it_opens_on_what_is_due_and_says_why_and_shows_the_skill_itself(running, home):
    page = opened(running, "%hermes curator plan")
    assert [each.split()[:4] for each in page.labels(LIST)] == [
        ["clean", "active", "→", "stale"],
        ["plot", "active", "→", "stale"],
    ]
    page.says("2 moves are due")
    page.says("made by a person: 1")
    page.says("Do clean &lt;img src=x onerror=alert(1)&gt; well.")
    assert "<img" not in page.html()
    assert "due" in page.outputs[-1]["text/plain"] or "clean" in page.outputs[-1]["text/plain"]
    page.offers("Do it now")
    page.lacks("Last report")
    page.lacks("Stop")


def test_one_move_is_done_now_and_another_is_kept_by_a_pin(running, home):
    page = opened(running)
    page.press("Do it now")
    page.says("The skill clean is stale.")
    page.says("1 move is due")
    page.press("Keep it: pin")
    page.says("plot is pinned: the curator leaves it as it is until you unpin it.")
    page.says("Nothing is due")
    page.lacks("Do it now")
    assert (state(running, "clean"), state(running, "plot")) == ("stale", "active")
    assert running.value(f"[each.name for each in {LORE}.curator.plan().moves]") == "[]"


def test_a_move_that_is_not_due_any_more_is_not_made(running, home):
    page = opened(running)
    page.choose(LIST, "plot")
    page.says("Do plot ")
    (home / "skills/.usage.json").write_text("{}")
    os.utime(home / "skills/plot/SKILL.md")
    page.press("Do it now")
    page.says("The skill plot does not become stale any more.")
    assert state(running, "plot") == "active"


def test_a_dry_run_does_nothing_a_run_does_all_and_is_taken_back(running, home, scripted):
    scripted(*[say(KEEP)] * 4)
    page = opened(running)
    page.press("Dry run")
    page.says("Nothing was done: this is what a run would do.")
    page.offers("Run now…")
    page.press("Run now…")
    page.press("Do all of it: press again")
    page.says("2 made stale.")
    page.says("Nothing is due")
    page.press("Last report")
    page.says("It is &lt;img src=x onerror=alert(1)&gt; fine.")
    page.press("Take back the last run…")
    page.press("Put all skills back as before it: press again")
    page.says("skills put back as before.")
    page.says("2 moves are due")
    page.lacks("Take back the last run…")
    assert "<img" not in page.html()


def test_a_run_that_waits_for_a_model_holds_nobody_up_and_is_stopped(running, home):
    server = Server([late(say("Hm."), 30)] * 3).start()
    try:
        running.ask_server(server)
        page = opened(running)
        page.press("Run now…")
        page.press("Do all of it: press again")
        page.offers("Stop")
        assert server.await_requests(1)
        assert running.value("6 * 7") == "42"
        page.offers("Stop")
        page.lacks("Dry run")
        page.press("Stop")
        page.says("Every skill is whole")
        page.offers("Dry run")
    finally:
        server.stop()


def test_what_a_review_wants_is_decided_here_too(running, home):
    change = "'mine', 'well.', 'better.', by='curator', why='It reads <b>better</b>.'"
    running.value(f"{LORE}.workshop.patch({change}).text")
    page = opened(running)
    assert page.labels(LIST)[0].split()[:2] == ["mine", "patch:"]
    page.says("better.")
    assert "<b>better" not in page.html()
    page.press("Accept")
    page.lacks("Accept")
    assert "better." in (home / "skills/mine/SKILL.md").read_text()
