"""Writes the ``state.db`` that the tests of the import read, with the original's own `SessionDB`. Not part of the tests:

    python -m venv /tmp/original && /tmp/original/bin/pip install hermes-agent==0.19.0
    HERMES_HOME=/tmp/original/home /tmp/original/bin/python tests/contracts/make_state_db.py tests/contracts/data

What it leaves there: ``original.tar.xz``, and in it a ``state.db`` of schema 22 with its ``state.db-wal``, for the
newest sessions were never checkpointed, and ``export.jsonl``, which is what ``hermes sessions export`` writes.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from hermes_state import SessionDB  # the original's

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MODEL = "anthropic/claude-sonnet-4.5"


class Writer:
    """Messages of a session, a second and a bit apart."""

    def __init__(self, db: SessionDB) -> None:
        self.db = db
        self.now = time.time() + 1
        self.id = ""

    def session(self, name: str, source: str = "cli", **fields: object) -> None:
        self.id = name
        fields.setdefault("model", MODEL)
        fields.setdefault("system_prompt", f"You are Hermes. This is {name}.")
        self.db.create_session(name, source, **fields)

    def say(self, role: str, content: object = None, **fields: object) -> int:
        self.now += 1.25
        return self.db.append_message(self.id, role, content, timestamp=self.now, **fields)

    def call(self, *calls: tuple[str, str, object], text: str = "", **fields: object) -> None:
        told = [
            {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for key, name, arguments in calls
        ]
        self.say("assistant", text, tool_calls=told, finish_reason="tool_calls", **fields)

    def result(self, key: str, name: str, content: object) -> None:
        self.say("tool", content, tool_call_id=key, tool_name=name)

    def spend(self, **fields: object) -> None:
        self.db.update_token_counts(self.id, api_call_count=1, model=MODEL, billing_provider="openrouter", **fields)


def ordinary(w: Writer) -> None:
    w.session("20260101_090000_aaaa01", cwd="/srv/project")
    for n in range(12):
        w.say("user", f"Question {n}: how many rows has table_{n}.csv? Žluťoučký kůň, 東京, tiếng Việt, 🐎")
        w.call((f"call_{n}", "read_file", {"path": f"data/table_{n}.csv"}), reasoning=f"I must look at file {n}.")
        w.result(f"call_{n}", "read_file", json.dumps({"content": f"a,b\n1,{n}\n", "total_lines": 2}))
        w.say("assistant", f"table_{n}.csv has {n + 1} rows.", finish_reason="stop")
        w.spend(input_tokens=1000 + n, output_tokens=50, cache_read_tokens=200, estimated_cost_usd=0.001)
    w.db.set_session_title(w.id, "Counting rows")
    w.db.end_session(w.id, "cli_close")


def parallel(w: Writer) -> None:
    w.session("20260101_091500_aaaa02")
    w.say("user", "Look at three places at once.")
    w.call(
        ("call_a", "terminal", {"command": "ls | wc -l"}),
        ("call_b", "web_search", {"query": "hermes"}),
        ("call_c", "read_file", {"path": "x"}),
        text="I look at all three.",
        reasoning_content="Three calls.",
        reasoning_details=[{"type": "reasoning.text", "text": "Three calls.", "signature": "c2ln"}],
    )
    w.result("call_b", "web_search", json.dumps({"results": []}))
    w.result("call_a", "terminal", json.dumps({"output": "7", "exit_code": 0}))
    w.result("call_c", "read_file", json.dumps({"error": "no such file: x"}))
    w.say("assistant", "Seven files, nothing on the web, and no file x.", finish_reason="stop")
    w.say("user", "And again, with the same ids.")
    w.call(("call_a", "terminal", {"command": "pwd"}))
    w.result("call_a", "terminal", json.dumps({"output": "/srv", "exit_code": 0}))
    w.say("assistant", "In /srv.", finish_reason="stop")
    w.spend(input_tokens=5000, output_tokens=300, reasoning_tokens=40, estimated_cost_usd=0.02, actual_cost_usd=0.018)
    w.db.set_session_title(w.id, "Three places")


def family(w: Writer) -> None:
    parent = "20260101_100000_bbbb01"
    w.session(parent)
    w.say("user", "Delegate this.")
    w.call(("call_d", "delegate_task", {"goal": "count"}))
    w.result("call_d", "delegate_task", json.dumps({"summary": "counted: 4"}))
    w.say("assistant", "The subagent counted 4.", finish_reason="stop")
    w.db.set_session_title(parent, "A family")
    w.session("20260101_100001_bbbb02", "subagent", parent_session_id=parent, model_config={"_delegate_from": parent})
    w.say("user", "count")
    w.say("assistant", "4", finish_reason="stop")
    w.session("20260101_100500_bbbb03", parent_session_id=parent, model_config={"_branched_from": parent})
    w.say("user", "Delegate this.")
    w.say("assistant", "The subagent counted 4.", finish_reason="stop")
    w.say("user", "What if it were 5?")
    w.say("assistant", "Then 5.", finish_reason="stop")
    w.db.set_session_title(w.id, "A family #2")
    w.db.end_session(parent, "compression")
    w.session("20260101_101000_bbbb04", parent_session_id=parent)
    w.say("user", "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted. A subagent counted 4.")
    w.say("assistant", "The subagent counted 4.", finish_reason="stop")
    w.say("user", "Twice that?")
    w.say("assistant", "Eight.", finish_reason="stop")


def compacted(w: Writer) -> None:
    w.session("20260102_080000_cccc01")
    for n in range(6):
        w.say("user", f"Old question {n} about giraffes")
        w.say("assistant", f"Old answer {n} about giraffes", finish_reason="stop")
    live = w.db.get_messages_as_conversation(w.id)
    summary = {"role": "assistant", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] Six questions on giraffes."}
    w.db.archive_and_compact(w.id, [summary, *live[-2:]])
    w.now = time.time() + 60
    w.say("user", "A new question about zebras")
    w.call(("call_z", "web_search", {"query": "zebra"}))
    w.result("call_z", "web_search", json.dumps({"results": ["striped"]}))
    w.say("assistant", "Zebras are striped.", finish_reason="stop")


def rewound(w: Writer) -> None:
    w.session("20260102_090000_dddd01")
    w.say("user", "First, which stays")
    w.say("assistant", "Stays.", finish_reason="stop")
    second = w.say("user", "Second, which is regretted")
    w.call(("call_r", "terminal", {"command": "echo regret"}))
    w.result("call_r", "terminal", json.dumps({"output": "regret", "exit_code": 0}))
    w.say("assistant", "Regretted.", finish_reason="stop")
    w.db.rewind_to_message(w.id, second)
    w.say("user", "Second, better")
    third = w.say("user", "Third, regretted as well")
    w.db.rewind_to_message(w.id, third)
    w.session("20260102_091000_dddd02")
    w.say("user", "Kept by undo")
    w.say("assistant", "Kept.", finish_reason="stop")
    w.say("user", "Deleted by undo")
    w.say("assistant", "Deleted.", finish_reason="stop")
    w.db.replace_messages(w.id, w.db.get_messages_as_conversation(w.id)[:2])


def broken_off(w: Writer) -> None:
    w.session("20260103_080000_eeee01")
    w.say("user", "Begin, and be killed")
    w.call(("call_1", "terminal", {"command": "sleep 100"}), ("call_2", "read_file", {"path": "y"}))
    w.result("call_2", "read_file", json.dumps({"content": "y"}))
    w.say("user", "Go on")
    w.say("assistant", "Half an answer", finish_reason="length")
    w.say("assistant", "and the other half.", finish_reason="stop")
    w.say("tool", "nobody asked for this", tool_call_id="call_never", tool_name="terminal")
    w.say("user", "One more")
    w.say("user", "and another in a row")
    w.call(("call_5", "terminal", {"command": "make"}))


def messengers(w: Writer) -> None:
    w.session("20260103_090000_ffff01", "telegram", user_id="42", chat_id="42", chat_type="private")
    parts = [
        {"type": "text", "text": "What is in this picture?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/horse.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA"}},
    ]
    w.say("user", parts, platform_message_id="tg-1")
    w.say("assistant", "One red pixel \ud800 and half a pair", finish_reason="stop")
    w.say("user", "Odd text: \ud83d alone, \x00 nul, \u202e turned, \ufeff mark", observed=True)
    w.say("assistant", "", reasoning="only thoughts", finish_reason="stop")
    w.session("cron_3f2a_20260103_100000", "cron")
    w.say("user", "[SILENT] Every morning: is the site up?")
    w.call(("call_up", "terminal", {"command": "curl -s example.org"}))
    w.result("call_up", "terminal", [{"type": "text", "text": "200"}, {"type": "text", "text": "OK"}])
    w.say("assistant", "It is up.", finish_reason="stop")
    w.db.end_session(w.id, "cron_complete")


def secrets(w: Writer) -> None:
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    w.session("20260104_080000_9999ab")
    w.say("user", f"My key is {key}, use it.")
    w.call(("call_k", "terminal", {"command": f"curl -H 'Authorization: Bearer {key}' example.org"}))
    w.result("call_k", "terminal", json.dumps({"output": f"used {key}", "exit_code": 0}))
    w.say("assistant", "Used.", finish_reason="stop")
    w.session("20260104_090000_9999ac", model=None, system_prompt=None)  # a ghost: opened, nothing said


def odd(w: Writer) -> None:
    w.session("20260104_100000_1234ab")
    w.say("system", "A note from the gateway.")
    w.say("assistant", "I speak first.", finish_reason="stop")
    w.say("session_meta", "not a message")
    w.say("user", "<script>alert(1)</script> '; DROP TABLE facts; --")
    w.say("assistant", "No.", finish_reason="content_filter")
    w.spend(input_tokens=10, output_tokens=5)
    w.db.update_token_counts(w.id, 7, 3, model="openai/gpt-5", billing_provider="openai", api_call_count=1)
    w.db.record_auxiliary_usage(w.id, "title_generation", model="small", input_tokens=100, output_tokens=9)
    w.db.set_session_title(w.id, "Odd things")


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "state.db"
        first = SessionDB(path)
        writer = Writer(first)
        for write in (ordinary, parallel, family, compacted, rewound):
            write(writer)
        first.close()
        second = SessionDB(path)
        sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        second._conn.execute("PRAGMA wal_autocheckpoint = 0")
        writer.db = second
        for write in (broken_off, messengers, secrets, odd):
            write(writer)
        lines = [json.dumps(session, ensure_ascii=False) for session in second.export_all()]
        path.with_name("export.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
        with tarfile.open(folder / "original.tar.xz", "w:xz") as archive:
            for name in ("state.db", "state.db-wal", "export.jsonl"):
                archive.add(path.with_name(name), name)
        second.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
