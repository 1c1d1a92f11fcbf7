"""Whatever lies at the path of an import: one clear line, or everything in it that can be kept. Nothing in it is run."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from hermes_kernel.core.messages import Assistant, User
from hermes_kernel.world.importing import Care, Lines, Unreadable, source
from hermes_kernel.world.store import Store
from tests.contracts.originals import SCHEMA_1, SCHEMA_12, bring, made, original, resumed, seen, stories, write
from tests.contracts.stores import child, done

SESSION = {"id": "s", "source": "cli", "started_at": 1000.0, "model": "m", "input_tokens": 70, "output_tokens": 30}


LINE = json.dumps({"id": "s", "messages": [{"role": "user", "content": "words"}]}) + "\n"


def row(n, role="user", content="words", **fields):
    return {"session_id": "s", "role": role, "content": content, "timestamp": 1000.0 + n, **fields}


def made_of(path, *rows, schema=SCHEMA_1):
    return made(path, schema, sessions=[SESSION], messages=list(rows))


def transcript(home):
    return resumed(home, "s").transcript


def broken(tmp_path, how):
    """A path at which there is nothing that could be imported."""
    path = tmp_path / "state.db"
    match how:
        case "nothing there":
            return path
        case "an empty folder":
            return tmp_path
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("Dear diary,\nno database here.\n")
        case "encrypted":
            path.write_bytes(bytes((n * 167 + 13) % 256 for n in range(8192)))
        case "cut off":
            path.write_bytes((original(tmp_path / "there") / "state.db").read_bytes()[:100])
        case "another database":
            made(path, "CREATE TABLE bookmarks (url TEXT);")
        case "no messages":
            made(path, "CREATE TABLE sessions (id TEXT);")
        case "no column of content":
            made(
                path, "CREATE TABLE sessions (id TEXT); CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT);"
            )
        case "a view by the name":
            made(path, f"{SCHEMA_1.replace('messages', 'm')} CREATE VIEW messages AS SELECT * FROM m;")
        case "other json":
            path.write_text('{"name": "package", "version": "1.0.0"}\n')
        case "json over several lines":
            path.write_text(json.dumps({"id": "s", "messages": []}, indent=2))
        case "not to be read":
            path.symlink_to(tmp_path / "gone")
        case "a pipe":
            os.mkfifo(path)
    return path


BROKEN = [
    "nothing there", "an empty folder", "empty", "text", "encrypted", "cut off", "another database", "no messages",
    "no column of content", "a view by the name", "other json", "json over several lines", "not to be read",
    "a pipe",
]  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
def test_what_cannot_be_imported_is_one_line_that_says_what_was_expected(tmp_path, how):
    path = broken(tmp_path, how)
    with pytest.raises(Unreadable) as failure:
        bring(tmp_path / "home", path)
    line = str(failure.value)
    assert "\n" not in line
    assert str(tmp_path) in line
    assert "state.db" in line
    assert "xpected" in line or "lacks" in line


def test_a_damaged_page_costs_the_sessions_on_it_and_nothing_else(tmp_path):
    path = tmp_path / "state.db"
    made(
        path,
        SCHEMA_1,
        sessions=[{**SESSION, "id": f"s{n}", "started_at": 1000.0 + n} for n in range(40)],
        messages=[{**row(n), "session_id": f"s{n // 5}", "content": f"{n} " * 400} for n in range(200)],
    )
    pages = path.read_bytes()
    at = len(pages) // 2 // 4096 * 4096
    path.write_bytes(pages[:at] + b"\xff" * 4096 + pages[at + 4096 :])
    brought = bring(tmp_path / "home", path)
    assert brought.sessions > 0
    assert all("malformed" in why for why in brought.skipped)
    assert brought.sessions + brought.skipped.total() == 40


def test_the_oldest_schema_is_read(tmp_path):
    calls = json.dumps([{"id": "c", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}])
    path = made_of(
        tmp_path / "state.db",
        row(1),
        row(2, "assistant", None, tool_calls=calls),
        row(3, "tool", "file.txt", tool_call_id="c"),
        row(4, "assistant", "One file."),
    )
    brought = bring(tmp_path, path)
    assert (brought.sessions, brought.messages, brought.calls) == (1, 4, 1)
    assert [m.text for m in transcript(tmp_path)] == ["words", "", "file.txt", "One file."]
    assert seen(tmp_path, "SELECT model, tokens, epoch(started) FROM sessions") == [("m", 100, 1000.0)]


def test_a_schema_in_between_is_read_and_a_row_it_left_unmarked_is_live(tmp_path):
    path = made_of(
        tmp_path / "state.db",
        row(1, active=None, reasoning=None),
        row(2, "assistant", "yes", active=None, reasoning="thinking", finish_reason="stop"),
        row(3, content="taken back", active=0),
        schema=SCHEMA_12,
    )
    bring(tmp_path, path)
    asked, replied = transcript(tmp_path)
    assert (asked, replied) == (User("words"), Assistant("yes", thoughts="thinking"))


def test_rows_that_make_no_sense_cost_themselves_alone(tmp_path):
    path = made(
        tmp_path / "state.db",
        "CREATE TABLE sessions (id, parent_session_id, started_at, title, model, input_tokens, model_config);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content, timestamp, tool_calls, tool_call_id);",
        sessions=[
            {"id": None},
            {"id": 7},
            {"id": "x" * 1000},
            {"id": "s", "started_at": "yesterday", "title": b"\xff\xfe", "input_tokens": 2**62, "model_config": "{{"},
        ],
        messages=[
            row(1, None, "no role"),
            row(2, "king", "no such role"),
            {**row(3), "timestamp": float("inf")},
            {**row(4, content=b"\xff bytes"), "timestamp": None},
            row(5, content=12.5),
            row(6, "assistant", "\0json:[broken", tool_calls="[broken"),
            row(7, "assistant", "\0json:" + "[" * 100_000, tool_calls="7"),
            row(8, "assistant", "\0json:[null, 3, [], {}]", tool_calls='[null, {"function": 3}, {"id": {}}]'),
            {**row(9, content="of no session"), "session_id": "loose"},
        ],
    )
    brought = bring(tmp_path / "home", path)
    assert brought.skipped["sessions without an id"] == 3
    assert brought.skipped["messages of a role that is not known"] == 2
    texts = [m.text for m in transcript(tmp_path / "home")]
    assert texts[:3] == ["words", "\ufffd bytes", "12.5"]
    assert ("of no session",) in seen(tmp_path / "home", "SELECT text FROM messages")


def test_text_is_kept_as_text(tmp_path):
    nasty = "<img src=x onerror=alert(1)> '; DROP TABLE facts; -- \x1b[31m \u202e {{x}} %hermes $HOME `rm -rf /`"
    path = made_of(tmp_path / "state.db", row(1, content=nasty))
    bring(tmp_path, path)
    assert transcript(tmp_path)[0].text == nasty
    assert seen(tmp_path, "SELECT text FROM messages") == [(nasty,)]


def test_halves_of_pairs_and_bytes_that_are_no_text_are_replaced(tmp_path):
    path = tmp_path / "export.jsonl"
    path.write_text('{"id": "s", "messages": [{"role": "user", "content": "a \\ud800 b"}]}\n')
    bring(tmp_path, path)
    assert transcript(tmp_path)[0].text == "a \ufffd b"


def test_pictures_that_cannot_be_kept_leave_a_note(tmp_path):
    def part(url):
        return {"type": "image_url", "image_url": {"url": url}}

    parts = [part("data:image/svg+xml,<svg onload=x>"), part("data:image/png;base64,!!!"), part("file:///etc/passwd")]
    path = made_of(tmp_path / "state.db", row(1, content="\0json:" + json.dumps(parts)))
    bring(tmp_path, path)
    (told,) = transcript(tmp_path)
    assert told == User("[image is not kept]\n[image of 3 characters is not kept]\n[image: file:///etc/passwd]")


def test_calls_with_one_id_each_get_their_own_result(tmp_path):
    calls = json.dumps([{"id": "c", "function": {"name": name, "arguments": {"n": 1}}} for name in ("first", "second")])
    path = made_of(
        tmp_path / "state.db",
        row(1),
        row(2, "assistant", "", tool_calls=calls),
        row(3, "tool", "one", tool_call_id="c"),
        row(4, "tool", '{"success": false}', tool_call_id="c"),
    )
    bring(tmp_path, path)
    _, replied, one, two = transcript(tmp_path)
    assert [call.arguments for call in replied.calls] == ['{"n": 1}', '{"n": 1}']
    assert [(one.name, one.text, one.ok), (two.name, two.ok)] == [("first", "one", True), ("second", False)]


def test_lines_that_are_no_session_are_counted(tmp_path):
    path = tmp_path / "export.jsonl"
    session = {"id": "s", "started_at": 1, "messages": [{"role": "user", "content": "hello", "timestamp": 2}]}
    deep = '{"id": ' + "[" * 100_000
    facts = {"uid": "u", "session": "t", "n": 0, "t": 1.0, "fact": {"fact": "Asked"}}
    path.write_text("\n".join(['{"x": 1}', "[]", "not json", deep, "", json.dumps(facts), json.dumps(session)]) + "\n")
    brought = bring(tmp_path, path)
    assert brought.sessions == 1
    assert brought.skipped == {
        "lines that are not a JSON object": 3,
        "lines that are neither a session nor a fact": 2,
    }


POISON = [
    {"fact": "Undone", "turns": "abc"},
    {"fact": "Undone", "turns": 2**40},
    {"fact": "Asked", "text": 5},
    {"fact": "Asked", "text": "x", "images": [{"mime": 1, "data": "x"}]},
    {"fact": "Replied", "text": "x", "usage": {"input_tokens": "many"}},
    {"fact": "Replied", "text": "x", "usage": {"cost": float("nan")}},
    {"fact": "Replied", "text": "x", "finish": "never"},
    {"fact": "Observed", "call_id": "c", "text": "x", "seconds": True},
    {"fact": ["Asked"]},
    {},
]


@pytest.mark.parametrize("longest", [len(LINE), len(LINE) + 1, 5_000])
def test_a_line_without_end_is_passed_over_and_costs_no_other(tmp_path, longest):
    path = tmp_path / "all.jsonl"
    path.write_text(LINE + '{"id": "' + "x" * 10_000 + '"}\n' + LINE.replace('"s"', '"t"') + " " * 20_001)
    care = Care(str)
    assert [told.session for told in Lines(path, longest).stories(care)] == ["s", "t"]
    assert care.skipped == {"lines that are not a JSON object": 1}


@pytest.mark.parametrize("fact", POISON, ids=str)
def test_a_fact_that_nobody_could_have_written_stays_out(tmp_path, fact):
    path = tmp_path / "ours.jsonl"
    good = {"uid": "a", "session": "s", "n": 0, "t": 1.0, "fact": {"fact": "Asked", "text": "words"}}
    path.write_text("".join(json.dumps(each) + "\n" for each in (good, {**good, "uid": "b", "n": 1, "fact": fact})))
    brought = bring(tmp_path, path)
    assert brought.skipped.total() == 1
    assert seen(tmp_path, "SELECT text FROM messages") == [("words",)]


@pytest.mark.parametrize(
    "places", [{"t": 1e15}, {"t": "x"}, {"n": -1}, {"n": 2**63}, {"n": 1.5}, {"uid": ""}, {"uid": 7}]
)
def test_a_fact_at_no_place_stays_out(tmp_path, places):
    path = tmp_path / "ours.jsonl"
    good = {"uid": "a", "session": "s", "n": 0, "t": 1.0, "fact": {"fact": "Asked", "text": "words"}}
    path.write_text("".join(json.dumps(each) + "\n" for each in (good, {**good, "uid": "b", "n": 1, **places})))
    assert bring(tmp_path, path).skipped.total() == 1
    assert len(seen(tmp_path, "SELECT * FROM sessions")) == 1


def test_a_fact_of_a_later_version_is_kept_as_it_is(tmp_path):
    path = tmp_path / "ours.jsonl"
    later = {"fact": "Dreamt", "calls": 5, "of": ["sheep"]}
    path.write_text(json.dumps({"uid": "a", "session": "s", "n": 0, "t": 1.0, "fact": later}) + "\n")
    assert bring(tmp_path, path).sessions == 1
    assert [record.fact for record in Store(tmp_path).records("s")] == [later]


def test_a_secret_in_an_export_of_ours_is_replaced(tmp_path):
    path = tmp_path / "ours.jsonl"
    secret = "ghp_" + "a1B2" * 9
    fact = {"uid": "u", "session": "s", "n": 0, "t": 1.0, "fact": {"fact": "Asked", "text": f"it is {secret}"}}
    path.write_text(json.dumps(fact) + "\n")
    bring(tmp_path, path)
    assert transcript(tmp_path)[0].text == "it is [redacted: GitHub token]"


def test_a_very_long_message_is_taken_in_whole(tmp_path):
    long = "many words and " * 200_000
    path = made_of(tmp_path / "state.db", row(1, content=long))
    bring(tmp_path, path)
    assert transcript(tmp_path)[0].text == long


def test_the_original_may_be_at_work_meanwhile(tmp_path):
    path = made_of(tmp_path / "state.db", row(1))
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    write(writer, "messages", [row(2, "assistant", "never checkpointed")])
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE messages SET content = 'not committed'")
    bring(tmp_path, path)
    writer.execute("ROLLBACK")
    writer.close()
    assert [m.text for m in transcript(tmp_path)] == ["words", "never checkpointed"]


def test_a_file_that_is_written_to_while_it_is_read_is_read_again(tmp_path):
    path = made(
        tmp_path / "state.db",
        SCHEMA_1,
        sessions=[{**SESSION, "id": name} for name in ("a", "b")],
        messages=[{**row(1), "session_id": name} for name in ("a", "b")],
    )
    with source(path) as found:
        from tests.contracts.originals import Care, redact

        told = found.stories(Care(redact))
        assert next(told).session == "a"
        writer = sqlite3.connect(path)
        write(writer, "messages", [{**row(2), "session_id": "b"}])
        assert len(next(told).messages) == 2
        writer.close()


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become somebody else to try it")
def test_a_folder_that_cannot_be_written_to_is_read_with_what_a_crash_left_in_it(tmp_path):
    folder = original(tmp_path / "there")
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)
    code = """
import os, sys
from pathlib import Path
from tests.contracts.originals import stories
folder = os.open(sys.argv[1], os.O_RDONLY)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
print(len(stories(Path(f"/proc/self/fd/{folder}"))))
"""
    assert done(child(code, folder)) == "15\n"
    assert sorted(path.name for path in folder.iterdir()) == ["export.jsonl", "state.db", "state.db-wal"]
    assert len(stories(folder)) == 15
