"""An import can be run again: it adds what is new, takes back what was taken back, and never the same thing twice."""

from __future__ import annotations

import json
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel import Agent
from hermes_kernel.core.events import Titled
from hermes_kernel.core.redact import redact
from hermes_kernel.core.turn import closing, recall
from hermes_kernel.export import export
from hermes_kernel.testing import ScriptedModel, say
from hermes_kernel.world.importing.known import known
from hermes_kernel.world.importing.news import news
from hermes_kernel.world.importing.reading import story
from hermes_kernel.world.importing.told import Care
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.records import facts
from hermes_kernel.world.store.retention.deletion import delete
from hermes_kernel.world.store.taking import Trace
from tests.contracts.originals import SCHEMA_12, bring, made, original, resumed, seen, write
from tests.contracts.stores import child, done, store, told, turn
from tests.laws.worlds import check_whole


def message(n, role, content, **fields):
    return {
        "id": n,
        "session_id": "s",
        "role": role,
        "content": content,
        "timestamp": 1000.0 + n,
        "active": 1,
        **fields,
    }


def calling(n, *ids, text=""):
    calls = [{"id": key, "function": {"name": "terminal", "arguments": "{}"}} for key in ids]
    return message(n, "assistant", text, tool_calls=json.dumps(calls))


SESSION = {"id": "s", "source": "cli", "started_at": 1000.0, "title": "First name", "input_tokens": 100}


@pytest.fixture
def path(tmp_path):
    rows = [message(1, "user", "one"), message(2, "assistant", "1")]
    return made(tmp_path / "state.db", SCHEMA_12, sessions=[SESSION], messages=rows)


def grow(path, *rows, do=()):
    connection = sqlite3.connect(path)
    for statement in do:
        connection.execute(statement)
    write(connection, "messages", list(rows))
    connection.close()


def texts(home):
    return [message.text for message in resumed(home, "s").transcript]


def test_a_second_import_adds_nothing(tmp_path):
    there = original(tmp_path / "there")
    first = bring(tmp_path, there)
    facts_before = seen(tmp_path, "SELECT count(*), count(DISTINCT uid) FROM facts")
    again = bring(tmp_path, there)
    assert (again.sessions, again.grown, again.messages, again.titles) == (0, 0, 0, 0)
    assert (again.same, again.known) == (first.sessions, first.messages)
    assert seen(tmp_path, "SELECT count(*), count(DISTINCT uid) FROM facts") == facts_before


def test_a_dry_run_counts_the_same_and_writes_nothing(tmp_path):
    there = original(tmp_path / "there")
    dry = bring(tmp_path / "home", there, dry=True)
    assert not (tmp_path / "home").exists()
    assert bring(tmp_path / "home", there) == dry


def test_what_was_said_since_is_added(path, tmp_path):
    bring(tmp_path, path)
    grow(path, message(3, "user", "two"), calling(4, "c1"), do=["UPDATE sessions SET input_tokens = 350"])
    brought = bring(tmp_path, path)
    assert (brought.sessions, brought.grown, brought.messages, brought.calls) == (0, 1, 2, 1)
    grow(path, message(5, "tool", "result", tool_call_id="c1"), message(6, "assistant", "2"))
    Store(tmp_path).fold()
    bring(tmp_path, path)
    assert texts(tmp_path) == ["one", "1", "two", "", "result", "2"]
    assert seen(tmp_path, "SELECT tokens FROM sessions") == [(350,)]
    assert bring(tmp_path, path).messages == 0


def test_a_turn_that_goes_on_after_it_seemed_over_loses_nothing(path, tmp_path):
    bring(tmp_path, path)
    grow(path, message(3, "assistant", "one more thing"))
    bring(tmp_path, path)
    assert bring(tmp_path, path).grown == 0
    assert texts(tmp_path)[-1] == "one more thing"
    assert ("one more thing",) in seen(tmp_path, "SELECT text FROM messages")


def test_what_was_rewound_since_is_taken_back(path, tmp_path):
    grow(path, message(3, "user", "two"), message(4, "assistant", "2"))
    bring(tmp_path, path)
    grow(path, message(5, "user", "two, better"), do=["UPDATE messages SET active = 0 WHERE id >= 3"])
    bring(tmp_path, path)
    assert texts(tmp_path) == ["one", "1", "two, better"]
    grow(path, do=["UPDATE messages SET active = 0 WHERE id >= 1"])
    bring(tmp_path, path)
    assert texts(tmp_path) == []
    assert bring(tmp_path, path).grown == 0


def test_what_was_deleted_since_is_taken_back(path, tmp_path):
    grow(path, message(3, "user", "two"), message(4, "assistant", "2"))
    bring(tmp_path, path)
    grow(path, message(5, "user", "other"), do=["DELETE FROM messages WHERE id >= 3"])
    bring(tmp_path, path)
    assert texts(tmp_path) == ["one", "1", "other"]
    assert seen(tmp_path, "SELECT text FROM messages ORDER BY n") == [("one",), ("1",), ("other",)]


def test_what_was_compacted_since_goes_on_from_the_summary(path, tmp_path):
    bring(tmp_path, path)
    summary = message(3, "user", "A summary")
    grow(
        path,
        do=[
            "ALTER TABLE messages ADD COLUMN compacted INTEGER DEFAULT 0",
            "UPDATE messages SET active = 0, compacted = 1",
        ],
    )
    grow(path, summary, message(4, "assistant", "Understood."))
    bring(tmp_path, path)
    assert texts(tmp_path) == ["A summary", "Understood."]
    assert ("one",) in seen(tmp_path, "SELECT text FROM messages")


def test_a_new_title_replaces_the_old_one_but_not_a_name_given_here(path, tmp_path):
    bring(tmp_path, path)
    grow(path, do=["UPDATE sessions SET title = 'Second name'"])
    assert bring(tmp_path, path).titles == 1
    assert seen(tmp_path, "SELECT title FROM sessions") == [("Second name",)]
    Store(tmp_path).append("s", Titled("Named here"))
    grow(path, message(3, "user", "two"))
    bring(tmp_path, path)
    assert seen(tmp_path, "SELECT title FROM sessions") == [("Named here",)]
    assert texts(tmp_path)[-1] == "two"


async def test_a_session_that_was_gone_on_with_here_is_left_as_it_is(path, tmp_path):
    bring(tmp_path, path)
    agent = Agent(ScriptedModel([say("2 here")]), [], home=tmp_path, session="s")
    await agent.ask("two here")
    agent.close()
    assert bring(tmp_path, path).same == 1
    grow(path, message(3, "user", "two there"))
    brought = bring(tmp_path, path)
    assert brought.skipped == {"sessions that were gone on with here and have more to tell": 1}
    assert texts(tmp_path) == ["one", "1", "two here", "2 here"]


def test_a_session_in_use_is_left_for_the_next_import(path, tmp_path):
    with Store(tmp_path).claim("s"):
        brought = bring(tmp_path, path)
    assert brought.skipped == {"sessions that are in use by another process": 1}
    assert bring(tmp_path, path).sessions == 1


def test_a_session_that_was_deleted_here_does_not_come_back(path, tmp_path):
    bring(tmp_path, path)
    delete(Store(tmp_path), ["s"], 2000.0)
    assert bring(tmp_path, path).skipped == {"sessions that were deleted here": 1}


def test_a_session_of_ours_by_the_same_name_is_not_touched(path, tmp_path):
    told(store(tmp_path), "s", turn("s", "ours"))
    brought = bring(tmp_path, path)
    assert brought.skipped == {"sessions whose id a session of another origin has here": 1}
    assert texts(tmp_path)[0] == "ours"


def test_an_export_after_the_database_adds_nothing_and_takes_nothing_back(tmp_path):
    there = original(tmp_path / "there")
    bring(tmp_path, there)
    before = seen(tmp_path, "SELECT count(*) FROM facts")
    assert bring(tmp_path, there / "export.jsonl").messages == 0
    assert seen(tmp_path, "SELECT count(*) FROM facts") == before


def test_two_imports_at_once_are_as_good_as_one(tmp_path):
    there = original(tmp_path / "there")
    code = "import sys; from pathlib import Path; from tests.contracts.originals import bring\n"
    code += "print(bring(Path(sys.argv[1]), Path(sys.argv[2])).messages)"
    both = [child(code, tmp_path / "home", there) for _ in range(2)]
    counts = sorted(int(done(each)) for each in both)
    assert counts == [0, 127]
    rows = seen(tmp_path / "home", "SELECT count(*), count(DISTINCT uid), count(DISTINCT (session, n)) FROM facts")
    assert len(set(rows[0])) == 1


def test_an_export_of_ours_comes_back_as_it_was(tmp_path):
    bring(tmp_path / "first", original(tmp_path / "there"))
    told(store(tmp_path / "first"), "mine", turn("mine", "Ours, too"))
    ids = [row[0] for row in seen(tmp_path / "first", "SELECT id FROM sessions")]
    first = Store(tmp_path / "first")
    lines = export([record for each in ids for record in first.records(each)], "jsonl")
    (tmp_path / "all.jsonl").write_text(lines, encoding="utf-8")
    brought = bring(tmp_path / "second", tmp_path / "all.jsonl")
    assert brought.sessions == 16
    everything = "SELECT uid, session, n, t, kind, body FROM facts ORDER BY uid"
    assert seen(tmp_path / "second", everything) == seen(tmp_path / "first", everything)
    assert bring(tmp_path / "second", tmp_path / "all.jsonl").same == 16
    assert bring(tmp_path / "second", tmp_path / "there").same == 15


ROLES = st.sampled_from(["user", "assistant", "tool", "system", "calls", "other"])
STEPS = st.lists(st.tuples(ROLES, st.integers(0, 3), st.sampled_from(["live", "live", "back", "old"])), max_size=14)


def rows_of(steps):
    out = []
    for n, (role, id_, standing) in enumerate(steps, 1):
        row = calling(n, f"c{id_}", "c1", text=f"text {n}") if role == "calls" else message(n, role, f"text {n}")
        if role == "tool":
            row["tool_call_id"] = f"c{id_}"
        out.append({**row, "active": int(standing == "live"), "compacted": int(standing == "old")})
    return out


def brought(rows, log=()):
    """The log after an import of these rows."""
    found = story(SESSION, rows, Care(redact))
    details = {"Undone": "turns", "Titled": "title"}
    traces = [
        Trace(r.session, r.uid, r.n, r.t, r.fact["fact"], str(r.fact.get(details.get(r.fact["fact"], ""), "")) or None)
        for r in log
    ]
    return [*log, *news(found, known(traces)).records]


@given(STEPS)
def test_whatever_the_rows_are_the_conversation_is_whole_and_nothing_that_stands_is_missing(steps):
    log = brought(rows_of(steps))
    turn = recall(facts(log))
    check_whole(recall(closing(turn, "kernel"), turn).transcript)
    said = "\n".join(str(record.fact) for record in log)
    assert all(f"text {n}" in said for n, (role, *_) in enumerate(steps, 1) if role != "other")
    assert [record.n for record in log] == list(range(len(log)))
    assert [record.t for record in log] == sorted(record.t for record in log)


@given(STEPS, st.lists(st.integers(0, 14), max_size=3))
@settings(max_examples=200)
def test_however_often_it_grew_between_imports_what_was_said_is_there_once(steps, cuts):
    rows = rows_of([(role, id_, "live") for role, id_, _ in steps])
    log = []
    for cut in [*sorted(cuts), len(rows)]:
        log = brought(rows[:cut], log)
    uids = [record.uid for record in log]
    assert len(set(uids)) == len(uids)
    turn = recall(facts(log))
    check_whole(recall(closing(turn, "kernel"), turn).transcript)
    said = "\n".join(str(record.fact) for record in log if record.fact["fact"] != "Final")
    for n, (role, *_) in enumerate(steps, 1):
        assert said.count(f"text {n}'") == (role != "other")


COUNT = st.integers(0, 4)


@given(COUNT, COUNT, COUNT, st.booleans())
def test_what_the_original_takes_back_between_imports_is_taken_back_here(turns, kept, later, deleted):
    before = [
        row for n in range(turns) for row in (message(2 * n, "user", f"q{n}"), message(2 * n + 1, "assistant", "a"))
    ]
    after = before[: 2 * kept] if deleted else [{**row, "active": int(row["id"] < 2 * kept)} for row in before]
    after += [message(100 + n, "user", f"later {n}") for n in range(later)]
    log = brought(after, brought(before))
    standing = [m.text for m in recall(facts(log)).transcript]
    assert standing == [row["content"] for row in after if row["active"]]
    assert brought(after, log) == log


@given(STEPS, st.integers(0, 60))
def test_an_import_that_was_killed_goes_on_where_it_stopped(steps, cut):
    rows = rows_of(steps)
    whole = brought(rows)
    again = brought(rows, whole[:cut])
    assert recall(facts(again)).transcript == recall(facts(whole)).transcript
    assert [record.fact["fact"] for record in again] == [record.fact["fact"] for record in whole]
    assert [record.n for record in again] == list(range(len(whole)))
