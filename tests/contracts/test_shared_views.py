"""The server's views and those of a home's own database have the same names, columns and rows."""

from __future__ import annotations

import json
import random

import duckdb
import psycopg
import pytest

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import (
    Accepted,
    Asked,
    Failed,
    Final,
    Interrupted,
    Observed,
    Opened,
    Outcome,
    Replied,
    Spent,
    Titled,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.learnt import LookDue, Looked, Remembered, SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.core.planned import JobRemoved
from hermes_kernel.core.text import CELLS, END_OF_CELLS
from hermes_kernel.world.store.opening import open_store
from tests.contracts.stores import Ticks, counted, turn
from tests.contracts.test_jobs_views import JOBS, scheduled
from tests.laws.worlds import Played, World, opened
from tests.postgres import postgres, url  # noqa: F401 - fixtures

VIEWS = (
    "sessions",
    "messages",
    "tool_calls",
    "calls",
    "facts",
    "memory_changes",
    "skill_changes",
    "skill_uses",
    "looks",
    "usage",
    "jobs",
    "job_runs",
)


def both(folder, url, sessions, schema="hermes_kernel"):  # noqa: F811
    """The views over the same facts: of a home's database, and of the server."""
    log = open_store(folder, f"{url}?schema={schema}", clock=Ticks(), ids=counted())
    for session, each in sessions:
        log.append(session, *each)
    log.fold()
    log.close()
    assert log.waiting == ""
    with duckdb.connect(str(folder / "sessions.duckdb"), read_only=True) as here, psycopg.connect(url) as there:
        return {
            view: (rows(here, f"SELECT * FROM {view}"), rows(there, f"SELECT * FROM {schema}.{view}")) for view in VIEWS
        }


def rows(connection, question):
    """Named columns and their values, in one order, JSON as what it says."""
    answer = connection.execute(question)
    names = [column[0] for column in answer.description]
    made = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    for row in made:
        row.pop("number", None)  # the place of a fact in one home's own index
        for name in row.keys() & {"calls", "body", "before", "after", "wrote", "deliver", "skills"}:
            if isinstance(row[name], str) and row[name][:1] in ("[", "{"):
                row[name] = json.loads(row[name])
    return sorted(map(shown, made), key=lambda row: (row.get("session"), row.get("n"), repr(row)))


def shown(value):
    """DuckDB keeps a NUL in text, the server shows it as U+FFFD; and 1e16 is a whole number to the server."""
    match value:
        case int() | float() if not isinstance(value, bool):
            return float(value)
        case str():
            return value.replace("\0", "\ufffd")
        case list():
            return [shown(each) for each in value]
        case dict():
            return {name: shown(each) for name, each in value.items()}
    return value


def same(pair):
    here, there = pair
    assert len(here) == len(there)
    for ours, theirs in zip(here, there, strict=True):
        assert ours.keys() == theirs.keys()
        assert ours == theirs


@pytest.mark.parametrize("trouble", [0.0, 0.3])
def test_the_turns_of_forty_worlds_read_the_same(tmp_path, url, trouble):  # noqa: F811
    sessions = []
    for seed in range(40):
        turn_, before = opened(Limits(max_iterations=6, compressions=0))
        sessions.append((f"s{seed}", Played(turn_, before, World(seed, trouble), stop=0.05).run().log))
    views = both(tmp_path, url, sessions)
    assert len(views["messages"][0]) > 100
    assert {row["kind"] for row in views["usage"][0]} == {"chat"}
    for view in VIEWS:
        same(views[view])


def test_what_is_undone_renamed_reused_failed_and_left_open_reads_the_same(tmp_path, url):  # noqa: F811
    def ask(word):
        return [Asked(word), Replied(f"re {word}"), Final(Outcome.COMPLETED, f"re {word}")]

    cells = f"{CELLS}\nIn [1]:\nprint('hi')\nOutput: hi\n{END_OF_CELLS}"
    call = ToolCall("c1", "python", '{"a": "\\u0000"}')
    sessions = [
        ("undone", [Opened("undone"), *ask("a"), *ask("b"), Undone(2), *ask("c"), Undone(1), *ask("d"), Undone(7), *ask("e")]),
        ("titled", [*turn("titled"), Titled("One"), Titled("Two")]),
        ("cells", turn("cells", f"{cells}\n\n  How many\n rows?\n\n{END_OF_CELLS} still mine")),
        ("cells2", turn("cells2", f"In metres.\n{cells}\nHow many\t\u00a0 rows?")),
        ("long", turn("long", " \n " + "x y\n" * 100)),
        ("reused", [*turn("reused"), *turn("reused")[1:4]]),
        ("open", turn("open")[:4]),
        ("hostile", [*turn("hostile", "nul \0 \\u0000 \\\\u0000 \0\0 ' \" </script> \U0001f600"), Replied("", (call, call))]),
        (
            "failed",
            [
                Opened("failed"),
                Asked("a"),
                Failed(Fault.OVERLOADED, model="m", endpoint="e", seconds=1.0),
                Failed(Fault.DISCONNECT, usage=Usage(1, 10, 5, estimated=True)),
                Replied("x", usage=Usage(1, 10, 7, 3, 2, 0.25), first_byte_seconds=0.5, seconds=2.0),
                Interrupted("person", usage=Usage(1, 10, 1, estimated=True)),
                Final(Outcome.INTERRUPTED, "xy"),
            ],
        ),
    ]  # fmt: skip
    views = both(tmp_path, url, sessions)
    for view in VIEWS:
        same(views[view])


def test_facts_in_any_order_read_the_same(tmp_path, url):  # noqa: F811
    """Also in orders in which no turn would write them: what a later version or a damaged journal leaves."""
    chance = random.Random(3)
    calls = [ToolCall(f"c{n % 3}", f"tool{n % 2}", "{}") for n in range(4)]
    pool = [
        *turn("s"),
        Asked("again"),
        Asked(""),
        Titled("t"),
        Titled(""),
        *(Undone(n) for n in (1, 2, 9)),
        *(Replied(f"r{n}", (call,), cut=n == 2) for n, call in enumerate(calls)),
        *(Observed(call.id, f"saw {call.id}", ok=call.id != "c1") for call in calls),
        Replied("two", (calls[0], calls[1]), cut=True),
        Accepted(),
        Failed(Fault.TIMEOUT, usage=Usage(2, 3, 4)),
        Interrupted("time", usage=Usage(1)),
        Final(Outcome.FAILED, "", "why"),
        Final(Outcome.INTERRUPTED, "said"),
    ]
    sessions = [(f"s{n}", chance.choices(pool, k=chance.randrange(1, 30))) for n in range(200)]
    views = both(tmp_path, url, sessions)
    for view in VIEWS:
        same(views[view])


def test_what_was_learnt_and_what_it_cost_reads_the_same(tmp_path, url):  # noqa: F811
    learnt = [
        Opened("learning", kind="learning"),
        Remembered("memory", (), ("likes \0 tea", "uses \\u0000 SI"), "model", "chat", "they said so"),
        Remembered("user", ("a",), (), "person"),
        SkillChanged("plots", "patch", "review", "a" * 64, "b" * 64, "SKILL.md", "chat", "the legend"),
        SkillMarked("plots", "pinned", "person"),
        SkillUsed("plots"),
        SkillUsed("plots", "use", "draw.py", "person", "chat"),
        LookDue("nudge", "chat", "ten turns"),
        Looked("nudge", "chat", "nudge1", 10, ("memory", "user"), "completed"),
        Looked("curator"),
    ]
    told = [
        Opened("nudge1", kind="nudge", parent="chat"),
        Asked("What is worth keeping?"),
        Replied("tea", usage=Usage(1, 10, 7, 3, 2, 0.25), model="m"),
        Spent(Usage(3, 30, 3), "a summary"),
        Spent(Usage(9, 900, 9), "subagents", itemised=True),
        Final(Outcome.COMPLETED, "tea"),
    ]
    views = both(tmp_path, url, [("learning", learnt), ("nudge1", told), ("chat", turn("chat"))])
    for view in VIEWS:
        same(views[view])
        assert views[view][0] or view in {"jobs", "job_runs"}
    assert {row["kind"]: row["calls"] for row in views["usage"][0] if row["model"]} == {"nudge": 1, "chat": 2}
    assert sum(row["tokens"] for row in views["usage"][0] if row["kind"] == "nudge") == 17 + 33


@pytest.mark.parametrize("seed", range(3))
def test_what_was_scheduled_reads_the_same(tmp_path, url, seed):  # noqa: F811
    facts = [Opened("p", kind="schedule"), *scheduled(seed), JobRemoved(JOBS[1].id)]
    views = both(tmp_path, url, [("p", facts[::2]), ("q", facts[1::2])])
    for view in ("jobs", "job_runs", "facts"):
        same(views[view])
        assert views[view][0]


def test_views_of_an_earlier_version_are_renewed_by_whoever_may(tmp_path, url, postgres):  # noqa: F811
    log = open_store(tmp_path / "a", url, clock=Ticks(), ids=counted())
    log.append("chat", *turn("chat"))
    log.close()
    with psycopg.connect(url, autocommit=True) as there:
        there.execute("DROP VIEW hermes_kernel.usage")
        there.execute("CREATE ROLE reader LOGIN PASSWORD 'reader'")
        there.execute("GRANT USAGE ON SCHEMA hermes_kernel TO reader")
        there.execute("GRANT ALL ON ALL TABLES IN SCHEMA hermes_kernel TO reader")
        as_reader = url.replace(url.partition("//")[2].partition("@")[0], "reader:reader")
        other = open_store(tmp_path / "b", as_reader, clock=Ticks(), ids=counted("b"))
        assert len(other.recall("chat")) == len(turn("chat"))
        assert other.waiting == ""
        other.close()
        again = open_store(tmp_path / "c", url, clock=Ticks(), ids=counted("c"))
        again.recall("chat")
        again.close()
        assert there.execute("SELECT calls FROM hermes_kernel.usage").fetchall() == [(2,)]
