"""``%hermes usage``: what a conversation has used, what worked beside it, and what all there is has used."""

from __future__ import annotations

import pytest

from hermes_kernel.core.events import Asked, Final, Opened, Outcome, Replied
from hermes_kernel.core.messages import Usage
from hermes_kernel.testing import say
from hermes_kernel.world.store import Store


def works_beside(home, session, kind, parent, usage):
    """Another process's slow loop."""
    log = Store(home)
    log.append(
        session, Opened(session, kind=kind, parent=parent), Asked("Go."), Replied("Gone.", usage=usage, model="beside")
    )
    log.append(session, Final(Outcome.COMPLETED, "Gone."))
    log.close()


def cells(ran):
    """The rows of a table by the word they begin with."""
    return {line.split("  ")[0]: line.split() for line in ran.text.splitlines() if line.strip()}


def test_what_slow_loops_have_used_stands_beside_the_conversation_and_in_the_whole(running, scripted):
    scripted(say("Yes."))
    running.run(running.prompt("Go.", "--no-cells"))
    session = running.value("_.session_id").strip("'")
    assert "beside" not in running.run("%hermes usage").text
    for n, kind in enumerate(("nudge", "nudge", "review"), 1):
        works_beside(running.home, f"{kind}{n}{session[:6]}", kind, session, Usage(1, 7_000_000 + n, 300 + n))
    ran = running.run("%hermes usage")
    assert ran.status == "ok", ran.error
    said = cells(ran)
    assert said["model calls"][-4:] == ["1", "1", "2", "1"]
    assert said["input tokens"][-2:] == ["14,000,003", "7,000,003"]
    assert "Nudge and review worked beside this conversation" in ran.text
    assert "<table" in ran.shown("text/html")[0]
    for what in ("all", "kind"):
        said = cells(running.run(f"%hermes usage {what}"))
        assert (said["nudge"][3], said["review"][3]) == ("14,000,003", "7,000,003")
        assert {"chat", "total"} <= said.keys()
    assert cells(running.run("%hermes usage model 7 days"))["beside"][2:4] == ["3", "21,000,006"]
    assert running.run("%hermes usage day 1").status == "ok"
    assert session[:8] in running.run("%hermes usage session 1 day").text
    running.run(running.python("used = %hermes usage all"))
    assert running.value("{row.name: row.usage.calls for row in used.value.rows}['nudge']") == "2"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("usage of it", "usage takes nothing or all, kind, model, day, session [N days], not 'of'."),
        ("usage all 0 days", "a number of days from 1 to 99,999"),
        ("usage kind since monday", "a number of days from 1 to 99,999"),
    ],
)
def test_usage_asked_for_wrongly_is_one_line(running, line, said):
    ran = running.run(f"%hermes {line}")
    assert ran.status == "error"
    assert said in ran.reply["evalue"]
