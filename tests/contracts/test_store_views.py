"""The views that other programs rely on say what the facts say, folded or not."""

from __future__ import annotations

from datetime import datetime

import duckdb
import pytest

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Failed,
    Final,
    Interrupted,
    Opened,
    Outcome,
    Replied,
    Spent,
    Titled,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Assistant, Observation, Usage, User
from hermes_kernel.core.text import CELLS, END_OF_CELLS
from tests.contracts.stores import store, told, turn
from tests.laws.worlds import Played, World, opened


def rows(home, question):
    """What any DuckDB client sees."""
    with duckdb.connect(str(home / "sessions.duckdb"), read_only=True) as connection:
        return connection.execute(question).fetchall()


def folded(home, *sessions):
    log = store(home)
    for session, facts in sessions:
        told(log, session, facts)
    log.fold()
    return log


def test_a_session_is_one_row_whether_folded_or_not(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s", "How  many\nrows?"))
    (before,) = log.sessions()
    log.fold()
    (after,) = log.sessions()
    assert before == after
    assert (after.id, after.kind, after.title, after.notebook, after.model) == (
        "s",
        "chat",
        "How many rows?",
        "a.ipynb",
        "some-model",
    )
    assert (after.outcome, after.calls, after.tokens, after.cost) == ("completed", 2, 235, 0.5)
    assert (after.ended - after.started, after.active) == (6, after.ended)
    seen = rows(tmp_path, "SELECT id, parent, kind, title, notebook, model, outcome, calls, tokens, cost FROM sessions")
    assert seen == [("s", "", "chat", "How many rows?", "a.ipynb", "some-model", "completed", 2, 235, 0.5)]
    assert rows(tmp_path, "SELECT started, ended FROM sessions") == [
        (datetime.utcfromtimestamp(after.started), datetime.utcfromtimestamp(after.ended))
    ]


def test_sessions_are_listed_newest_first_and_no_more_than_asked_for(tmp_path):
    log = folded(tmp_path, *[(f"s{n}", turn(f"s{n}")) for n in range(5)])
    log.append("s1", Asked("again"))
    log.append("new", Opened("new"))
    assert [row.id for row in log.sessions(3)] == ["new", "s1", "s4"]
    assert [row.ended is None for row in log.sessions(3)] == [True, True, False]
    assert log.sessions(0) == []


def test_a_title_given_wins_over_the_first_prompt(tmp_path):
    log = folded(tmp_path, ("s", [*turn("s"), Titled("One"), Titled("Two")]))
    assert log.sessions()[0].title == "Two"


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_session_is_called_by_the_first_prompt_that_stands(tmp_path, moment):
    log = store(tmp_path)
    told(log, "s", turn("s", "A slip of the tongue"))
    if moment == "before":
        log.fold()
    log.append("s", Undone(1))
    if moment == "between":
        log.fold()
    assert log.sessions()[0].title == ""
    with log.connect() as connection:
        assert connection.execute("SELECT title FROM sessions").fetchall() == [("",)]
    log.append("s", Asked("What was meant"))
    assert log.sessions()[0].title == "What was meant"
    assert log.find("What was meant") == "s"
    assert log.search("meant").threads[0].title == "What was meant"
    log.fold()
    assert rows(tmp_path, "SELECT title FROM sessions") == [("What was meant",)]


@pytest.mark.parametrize("before", ["", "Always use metres.\n\n"])
def test_a_session_is_called_by_what_was_asked_not_by_the_cells_that_were_run_before(tmp_path, before):
    cells = f"{CELLS}\nIn [1]:\nprint('hi')\nOutput: hi\n{END_OF_CELLS}"
    log = store(tmp_path)
    told(log, "s", turn("s", f"{before}{cells}\n\nHow many\nrows?"))
    assert log.sessions()[0].title == "How many rows?"
    log.fold()
    assert log.sessions()[0].title == "How many rows?"


def test_the_messages_of_a_turn_are_what_was_said(tmp_path):
    folded(tmp_path, ("s", turn("s")))
    assert rows(tmp_path, "SELECT role, text, tool, ok FROM messages ORDER BY n") == [
        ("user", "How many?", None, None),
        ("assistant", "", None, None),
        ("tool", "3", "python", True),
        ("assistant", "Three.", None, None),
    ]


def test_undone_turns_are_not_in_messages_and_stay_in_facts(tmp_path):
    def ask(word):
        return [Asked(word), Replied(f"re {word}"), Final(Outcome.COMPLETED, f"re {word}")]

    facts = [
        Opened("s"),
        *ask("a"),
        *ask("b"),
        *ask("c"),
        Undone(2),
        *ask("d"),
        Undone(1),
        *ask("e"),
        Undone(7),
        *ask("f"),
    ]
    folded(tmp_path, ("s", facts))
    assert rows(tmp_path, "SELECT text FROM messages WHERE role = 'user' ORDER BY n") == [("f",)]
    assert rows(tmp_path, "SELECT count(*) FROM facts") == [(len(facts),)]
    assert rows(tmp_path, "SELECT undone FROM turns ORDER BY n") == [
        (True,),
        (True,),
        (True,),
        (True,),
        (True,),
        (False,),
    ]


def test_an_undo_that_was_folded_before_the_turn_it_undoes_still_undoes_it(tmp_path):
    first, second = store(tmp_path, "a"), store(tmp_path, "b")
    told(first, "s", [Opened("s"), Asked("a"), Final(Outcome.EMPTY, "")])
    assert second.recall("s")
    second.append("s", Undone(1))
    (path,) = [each for each in (tmp_path / "store" / "journal").iterdir() if "-a0" in each.name]
    aside = path.rename(path.with_suffix(".aside"))
    second.fold()
    aside.rename(path)
    second.fold()
    assert rows(tmp_path, "SELECT count(*) FROM facts") == [(4,)]
    assert rows(tmp_path, "SELECT * FROM messages") == []


def test_a_tool_call_is_one_row_with_its_result_or_none_yet(tmp_path):
    facts = turn("s")
    folded(tmp_path, ("s", facts), ("open", turn("open")[:4]))
    question = "SELECT session, id, name, arguments, result, seconds, ok FROM tool_calls ORDER BY session DESC"
    assert rows(tmp_path, question) == [
        ("s", "c1", "python", '{"code": "len(df)"}', "3", 0.25, True),
        ("open", "c1", "python", '{"code": "len(df)"}', None, None, None),
    ]


def test_ids_that_a_model_uses_again_do_not_mix_up_results(tmp_path):
    folded(tmp_path, ("s", [*turn("s"), *turn("s")[1:4]]))
    assert rows(tmp_path, "SELECT result FROM tool_calls ORDER BY n") == [("3",), (None,)]


def test_every_model_call_is_one_row_failed_and_stopped_ones_too(tmp_path):
    facts = [
        Opened("s"),
        Asked("a"),
        Failed(Fault.OVERLOADED, model="m", endpoint="e", seconds=1.0),
        Failed(Fault.DISCONNECT, usage=Usage(1, 10, 5, estimated=True), model="m", endpoint="e"),
        Replied("x", usage=Usage(1, 10, 7, 3, 2, 0.25), model="m", endpoint="e", first_byte_seconds=0.5, seconds=2.0),
        Replied("y", model="m", endpoint="e"),
        Interrupted("person", usage=Usage(1, 10, 1, estimated=True)),
        Final(Outcome.INTERRUPTED, "xy"),
        Asked("b"),
        Interrupted("person"),
        Final(Outcome.INTERRUPTED, ""),
    ]
    folded(tmp_path, ("s", facts))
    question = "SELECT outcome, endpoint, ttfb, seconds, retries, tokens, cost, estimated FROM calls ORDER BY n"
    assert rows(tmp_path, question) == [
        ("overloaded", "e", 0, 1.0, 0, 0, 0, False),
        ("disconnect", "e", 0, 0, 1, 15, 0, True),
        ("replied", "e", 0.5, 2.0, 2, 17, 0.25, False),
        ("replied", "e", 0, 0, 0, 0, 0, True),
        ("interrupted", "", 0, 0, 0, 11, 0, True),
    ]


@pytest.mark.parametrize("trouble", [0.0, 0.3])
def test_the_messages_are_the_transcript_that_the_facts_fold_to(tmp_path, trouble):
    """Turns of forty worlds: the view and the core read the same log and must say the same."""
    log, expected = store(tmp_path), {}
    for seed in range(40):
        turn_, facts = opened(Limits(max_iterations=6, compressions=0))
        played = Played(turn_, facts, World(seed, trouble), stop=0.05).run()
        told(log, f"s{seed}", played.log)
        expected[f"s{seed}"] = [said(message) for message in played.turn.transcript]
    log.fold()
    found = {session: [] for session in expected}
    question = (
        "SELECT session, role, text, coalesce(json_array_length(calls), 0), call_id FROM messages ORDER BY session, n"
    )
    for session, *row in rows(tmp_path, question):
        found[session].append(tuple(row))
    for session, messages in expected.items():
        assert sorted(found[session], key=str) == sorted(messages, key=str), session


def said(message):
    match message:
        case User(text):
            return ("user", text, 0, None)
        case Assistant(text, calls):
            return ("assistant", text, len(calls), None)
        case Observation(call_id, _, text):
            return ("tool", text, 0, call_id)


def test_what_a_compression_and_side_work_cost_is_counted(tmp_path):
    facts = [
        Opened("s"),
        Asked("q"),
        Compressed((), 900, 100, "summary", Usage(2, 700, 50, cost=0.25)),
        Spent(Usage(1, 300, 20), "a summary"),
        Compressed((), 100, 90, "pruned"),
    ]
    folded(tmp_path, ("s", facts))
    assert rows(tmp_path, "SELECT outcome, tokens FROM calls ORDER BY n") == [("compressed", 750), ("aside", 320)]
    assert rows(tmp_path, "SELECT tokens, cost FROM sessions") == [(1070, 0.25)]
