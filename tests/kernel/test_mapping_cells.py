"""``%%hermes --map``: a cell that is asked once for each row of a table, in every kind of kernel."""

from __future__ import annotations

import time

import pytest

from hermes_kernel.testing import forever, late, rate_limited, say, status
from tests.soon import SOON

TABLE = """
import pandas as pd
df = pd.DataFrame({"city": ["Oslo", "Rome"], "note": ["$tone @nowhere {}", "costs $5"]}, index=["a", "a"])
tone, cities = "friendly", [{"city": "Oslo"}, {"city": "Rome"}, {"city": "Lima"}]
"""
CELL = "%%hermes --map df --as answers --plain\nBe $tone about $city for $$1: $note"


def test_each_row_is_asked_and_the_whole_is_a_value(running, scripted):
    server = scripted(forever(say("Lovely.")))
    assert running.run(running.python(TABLE)).status == "ok"
    ran = running.run(CELL)
    assert ran.status == "ok", ran.error
    assert ran.shown() == ["done · 2 of 2 rows · 2 calls"]
    asked = sorted(request.messages[-1]["content"] for request in server.requests)
    assert asked == [
        "Be friendly about Oslo for $1: $tone @nowhere {}",
        "Be friendly about Rome for $1: costs $5",
    ]
    assert running.value("answers.texts") == "['Lovely.', 'Lovely.']"
    assert (
        running.value("df.assign(said=answers.frame()['text'].to_numpy())['said'].tolist()") == "['Lovely.', 'Lovely.']"
    )
    again = running.run(CELL, cell_id="c1")
    assert "2 of them from before" in again.text
    assert len(server.requests) == 2


def test_what_is_wrong_is_said_in_a_line_and_costs_nothing(running, scripted):
    server = scripted(forever(say("Never.")))
    running.run(running.python(TABLE))
    for cell, words in (
        ("%%hermes --map df\nIn $town?", "There is no column $town. The columns are: city, note."),
        ("%%hermes --map dff\nIn $city?", "There is no variable dff to map over. Did you mean df?"),
        ("%%hermes --map tone\nIn $city?", "Rows cannot be a str: give a DataFrame"),
        ("%%hermes --map df --session new\nIn $city?", "--session does not go with --map"),
        ("%%hermes --map df\n", "The template is empty."),
    ):
        ran = running.run(cell)
        assert ran.status == "error"
        assert words in ran.error
        assert len(ran.error.splitlines()) <= 2
    assert not server.requests


def test_rows_that_fail_are_counted_and_the_cell_fails_where_none_was_answered(running, scripted):
    running.run(running.python(TABLE))
    scripted(say("Fine."), status(400), say("Fine."))
    ran = running.run("%%hermes --map cities --workers 1 --plain\nIn $city?")
    assert ran.status == "ok", ran.error
    assert "3 of 3 rows · 1 without an answer" in ran.text
    assert "`--again failed` asks them anew" in ran.text
    scripted(say("Better."))
    ran = running.run("%%hermes --map cities --workers 1 --plain --again failed --as cured\nIn $city?")
    assert ran.status == "ok", ran.error
    assert running.value("cured.texts") == "['Fine.', 'Better.', 'Fine.']"
    scripted(forever(status(400)))
    ran = running.run("%%hermes --map cities --plain\nAnd in $city?")
    assert ran.status == "error"
    assert "No row was answered." in ran.error


@pytest.mark.parametrize("step", [late(say("Never."), 30), rate_limited(60)], ids=["asked", "waiting"])
def test_an_interrupt_ends_a_map_soon_and_the_same_cell_goes_on(running, scripted, step):
    running.run(running.python(f"{TABLE}\nmany = [{{'n': n}} for n in range(50)]"))
    server = scripted(forever(step))
    cell = f"%%hermes --map many --as answers --budget 40 --plain\nThe {server.url} of $n?"
    sent = running.send(cell, cell_id="c1")
    assert server.await_requests(8)
    time.sleep(0.1)
    ran = running.finish(sent, began=running.interrupt())
    assert ran.status == "error"
    assert "Interrupted. What was answered is kept" in ran.error
    assert ran.seconds < SOON
    assert running.value("len(answers)") == "50"
    assert running.value("dict(answers.counts)['interrupted'] >= 8") == "True"
    assert running.run(running.python("1 + 1")).status == "ok"
