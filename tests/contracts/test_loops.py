"""The table of loops tells what the store holds: folded or not, whoever wrote it, and nothing of what was deleted."""

from __future__ import annotations

import json

import pytest

from hermes_kernel.cli import main
from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Continued,
    Failed,
    Final,
    Observed,
    Opened,
    Outcome,
    Replied,
    Spent,
    Started,
    Titled,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.learnt import LookDue, Looked, Remembered, SkillChanged, SkillUsed
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.learning.loops import loops
from hermes_kernel.settings import Settings
from hermes_kernel.world.chronicle import Chronicle
from tests.contracts.stores import counted, store, told, turn

SEARCH = ToolCall("c1", "session_search", "{}")


def table(log, plans=None, **settings):
    """The rows by the names of the loops."""
    return {row.loop: row for row in loops(log, Settings(**settings), plans)}


def searched(session):
    """A session in which the model searched earlier ones."""
    return [
        Opened(session),
        Asked("What was it?"),
        Replied("", (SEARCH,), usage=Usage(1, 10, 1)),
        Started("c1"),
        Observed("c1", "Three ducks."),
        Replied("Three.", usage=Usage(1, 20, 2)),
        Final(Outcome.COMPLETED, "Three."),
    ]


@pytest.fixture(params=["in journals", "folded", "half and half"])
def kept(request, tmp_path):
    """A function that keeps facts in a store in one of three ways, and the store."""
    log = store(tmp_path)
    ways = {"in journals": (), "folded": ("s", "t", "u"), "half and half": ("s",)}[request.param]

    def keep(session, *facts):
        told(log, session, list(facts))
        if session in ways:
            log.fold()

    return log, keep


def test_turns_are_counted_and_the_last_one_is_told_with_its_cost(kept):
    log, keep = kept
    keep("s", *turn("s"))
    keep(
        "t",
        *searched("t"),
        Asked("Again?"),
        Failed(Fault.SERVER_ERROR, usage=Usage(1, 5, 0)),
        Replied("Yes.", usage=Usage(1, 7, 1)),
    )
    keep("t", Final(Outcome.COMPLETED, "Yes."))
    seen = table(log)
    assert seen["tool execution"].wrote == "2 results"
    assert seen["tool execution"].read == "by 2 model calls"
    assert seen["agent iteration"].wrote == "3 answers in 5 model calls"
    assert seen["agent iteration"].cost == "2 calls, 13 tokens (last turn)"
    assert seen["session accumulation"].wrote == "2 conversations, 3 turns"
    assert seen["session accumulation"].read == "by 1 search"


def test_a_compression_is_read_by_the_session_in_which_the_conversation_goes_on(kept):
    log, keep = kept
    keep("s", *turn("s"), Compressed((), 900, 300, "summary", Usage(1, 800, 60)), Continued("t"))
    keep(
        "t", *turn("t")[:0], Opened("t", parent="s"), Asked("More?"), Replied("Yes."), Final(Outcome.COMPLETED, "Yes.")
    )
    seen = table(log)
    assert seen["compression"].wrote == "1 summary; the last: 900 to 300 tokens"
    assert seen["compression"].read == "by 1 model call"
    assert seen["compression"].usage == Usage(1, 800, 60)
    assert seen["session accumulation"].wrote == "1 conversation, 2 turns", "what goes on is the same conversation"


def test_a_slow_loop_is_told_with_what_it_wrote_what_read_it_and_what_it_cost(kept):
    log, keep = kept
    keep("s", *turn("s"))
    chronicle = Chronicle(log, counted("learnt"))
    chronicle.record(LookDue("nudge", "s"), LookDue("review", "s"))
    keep(
        "u",
        Opened("u", kind="nudge", parent="s"),
        Asked("?"),
        Replied("", usage=Usage(1, 50, 5)),
        Spent(Usage(1, 9, 1), "late"),
    )
    chronicle.record(
        Remembered("user", (), ("Counts ducks.",), "nudge", "s"),
        Looked("nudge", "s", "u", 1, ("user",), "completed"),
        SkillChanged("ducks", "create", "model", session="s"),
    )
    keep("t", *turn("t"))
    chronicle.record(SkillUsed("ducks", session="t"))
    log.fold()
    seen = table(log, learning=True)
    assert seen["nudge"].wrote == "1 change of memory; the last +1 −0 in user"
    assert seen["nudge"].read == "by 1 new conversation"
    assert seen["nudge"].cost == "2 calls, 65 tokens"
    assert seen["nudge"].next == "after 10 turns or 600 s"
    assert seen["skill creation"].wrote == "1 made; the last: ducks"
    assert seen["skill creation"].read == "read 1 time; listed in 1 new conversation"
    assert seen["skill creation"].next.startswith("1 due; after a task of 5 tool calls")
    assert seen["session accumulation"].wrote.startswith("2 conversations"), "a look is none"


def test_a_look_that_was_cut_has_cost_what_it_has_cost(kept):
    log, keep = kept
    keep("s", *turn("s"), Titled("Curator: of paintings"))
    keep("u", Opened("u", kind="curator"), Titled("Curator: ducks"), Asked("?"), Replied("", usage=Usage(1, 50, 5)))
    seen = table(log)
    assert seen["curator"].cost == "1 call, 55 tokens"
    assert seen["session accumulation"].wrote.startswith("1 conversation,")


def test_a_conversation_goes_on_after_a_fold(tmp_path):
    log = store(tmp_path)
    told(log, "s", [Opened("s")])
    log.fold()
    told(log, "s", turn("s")[1:])
    assert table(log)["session accumulation"].wrote == "1 conversation, 1 turn"


def test_what_was_deleted_is_not_counted(tmp_path):
    from hermes_kernel.world.store.retention.deletion import delete

    log = store(tmp_path)
    told(log, "s", turn("s"))
    log.fold()
    told(log, "t", turn("t"))
    delete(log, ["s"], 1_800_000_100.0)
    seen = table(log)
    assert seen["session accumulation"].wrote == "1 conversation, 1 turn"
    assert seen["tool execution"].wrote == "1 result"


@pytest.mark.parametrize(
    ("settings", "loop", "says"),
    [
        ({"learning": False}, "nudge", "when it is asked for: learning is off"),
        ({"learning": False}, "curator", "when it is asked for: learning is off"),
        ({"learning": True, "memory_writes": "off"}, "nudge", "never: memory_writes is off"),
        ({"learning": True, "skill_writes": "off"}, "skill creation", "never: skill_writes is off"),
        ({"learning": True, "nudge_every_turns": 1, "nudge_seconds": 90}, "nudge", "after 1 turn or 90 s"),
        ({"learning": True, "nudge_every_turns": 0}, "nudge", "never: nudge_every_turns is 0"),
        ({"learning": True, "nudge_seconds": 0}, "nudge", "after 10 turns"),
        ({"learning": True}, "curator", "every 7 days, when nothing was asked for 2 h"),
        ({"compress_at": 0.6}, "compression", "at 60% of the window"),
        ({}, "schedule", "no jobs yet"),
    ],
)
def test_when_a_loop_runs_next_follows_from_the_settings(tmp_path, settings, loop, says):
    assert table(store(tmp_path), **settings)[loop].next == says


def test_who_knows_better_than_the_settings_is_believed(tmp_path):
    assert table(store(tmp_path), {"curator": "on Monday"})["curator"].next == "on Monday"


def test_the_command_tells_the_same_in_words_and_as_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    told(store(tmp_path), "s", turn("s"))
    assert main(["loops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert "tool execution" in lines[1]
    assert "1 result" in lines[1]
    assert main(["loops", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["number"] for row in rows] == list(range(1, 9))
    assert rows[1]["usage"]["input_tokens"] == 220
    assert rows[6]["last"] is None


def test_a_home_that_has_nothing_is_told_and_not_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    assert main(["loops"]) == 0
    assert capsys.readouterr().out.count("nothing yet") == 8
    assert not (tmp_path / "home" / "sessions.duckdb").exists()
