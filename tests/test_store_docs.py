"""What the page about the store says is so: its columns, its questions, its searches and its commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from hermes_kernel.cli import _parser
from hermes_kernel.core.events import (
    Approved,
    Asked,
    Compressed,
    Failed,
    Final,
    Interrupted,
    Kept,
    Observed,
    Opened,
    Outcome,
    Replied,
    Started,
    Titled,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.learnt import Looked, Remembered, SkillChanged, SkillUsed
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.core.planned import JobSet, RunBegan, RunEnded, Skipped, Told
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
LEARNT = ("memory_changes", "skill_changes", "skill_uses", "looks")
VIEWS = ("sessions", "messages", "tool_calls", "calls", "usage", *LEARNT, "jobs", "job_runs", "facts")
THEN, NOW = 1_792_000_000.0, 1_792_080_000.0  # both in October 2026

SAYINGS = (
    "The forecast of revenue is in the quarterly report; what's (this)? It is [ok] 100%.",
    "Use read_csv on /srv/ada/data/sales.csv, then df.groupby(month) times 3.14.",
    "Xử lý dữ liệu: 我在桂林工作。 Žluťoučký kůň, STRASSE.",
    "The budget has a report of its own.",
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    """The first table below a heading, without its head."""
    below = PAGE.partition(f"\n{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert table, heading
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


SQL = blocks("sql")
SEARCHES = [re.findall(r"`([^`]+)`", cells[0])[0] for cells in rows("## Searching")]


class Calendar(SystemClock):
    """A clock that is told the time."""

    time = THEN

    def now(self) -> float:
        return self.time


def conversation(session: str, parent: str = "") -> list[Kept]:
    """A turn in which everything happens that the questions ask for."""
    code = ToolCall("c1", "python", '{"code": "df.head()"}')
    other = ToolCall("c2", "terminal", '{"command": "ls"}')
    return [
        Opened(session, "", "some-model", notebook="sales.ipynb", parent=parent),
        Asked(SAYINGS[0]),
        Failed(Fault.RATE_LIMIT, "slow down", 429, endpoint="http://x/v1"),
        Replied("", (code, other), usage=Usage(1, 100, 10, cost=0.5), endpoint="http://x/v1", seconds=1.5),
        Approved("c1", allowed=True, by="person"),
        Started("c1"),
        Observed("c1", "KeyError: 'month'", ok=False, seconds=0.25),
        Started("c2"),
        Compressed((), 9000, 1000),
        Replied(SAYINGS[1], usage=Usage(1, 120, 50), endpoint="http://x/v1", first_byte_seconds=0.5, seconds=2),
        Final(Outcome.COMPLETED, SAYINGS[1]),
        Asked(SAYINGS[2]),
        Interrupted(usage=Usage(1, 10, 1)),
        Final(Outcome.INTERRUPTED, ""),
        Asked(SAYINGS[3]),
        Final(Outcome.FAILED, ""),
        Titled("Forecasts"),
    ]


def learning(session: str, aside: str) -> list[Kept]:
    """One of each fact that the questions about memory and skills ask for."""
    return [
        Opened("learning", kind="learning"),
        Remembered("memory", ("Likes tea.",), ("Likes tea.", "Uses SI units."), "nudge", session),
        SkillChanged("monthly-report", "create", "person", after="a" * 64),
        SkillUsed("monthly-report", session=session),
        Looked("nudge", session, aside, 3, ("memory",), "completed"),
    ]


def scheduling(session: str) -> list[Kept]:
    """A job that ran, failed and was skipped."""
    job = Job("5f0c1ab2d3e4f506", "weekly", "0 9 * * 1", "UTC", THEN, prompt="Sum up the week.")
    one, two = "5f0c1ab2-20261012T090000Z", "5f0c1ab2-20261019T090000Z"
    return [
        Opened("schedule", kind="schedule"),
        JobSet(job),
        RunBegan(job.id, one, 1_791_795_600.0, notebook="/home/one.ipynb"),
        RunEnded(job.id, one, 1_791_795_600.0, "ran", session=session),
        Told(job.id, one, "team"),
        RunBegan(job.id, two, 1_792_400_400.0),
        RunEnded(job.id, two, 1_792_400_400.0, "failed", "no model"),
        Skipped(job.id, (1_793_005_200.0,), "missed by 3 h"),
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person's folder with a home in it of which one half is folded."""
    folder = tmp_path_factory.mktemp("person")
    clock = Calendar()
    store = Store(folder / ".hermes", clock=clock)
    store.append("0a1b2c", *conversation("0a1b2c"))
    store.fold()
    clock.time = NOW
    store.append("3d4e5f", *conversation("3d4e5f", "0a1b2c"))
    store.append("learning", *learning("0a1b2c", "3d4e5f"))
    store.append("schedule", *scheduling("0a1b2c"))
    store.close()
    return folder / ".hermes"


def store(home: Path) -> Store:
    clock = Calendar()
    clock.time = NOW
    return Store(home, clock=clock)


@pytest.mark.parametrize("view", VIEWS)
def test_the_columns_of_a_view_are_those_that_it_has(home, view):
    with store(home).connect() as connection:
        there = [(name, kind) for name, kind, *_ in connection.execute(f"DESCRIBE {view}").fetchall()]
    assert [(name.strip("`"), kind) for name, kind, _ in rows(f"### `{view}`")] == there


@pytest.mark.parametrize("statement", SQL)
def test_a_question_can_be_asked_of_database_and_journals_together(home, statement):
    with store(home).connect() as connection:
        found = connection.execute(statement).fetchall()
    assert found or "date_trunc('month', now()" in statement


def test_a_question_can_be_asked_by_any_client_and_has_the_same_answer(tmp_path):
    mine = store(tmp_path)
    mine.append("0a1b2c", *conversation("0a1b2c"))
    mine.append("3d4e5f", *conversation("3d4e5f", "0a1b2c"))
    mine.append("learning", *learning("0a1b2c", "3d4e5f"))
    mine.append("schedule", *scheduling("0a1b2c"))
    with mine.connect() as connection:
        before = [sorted(connection.execute(statement).fetchall(), key=repr) for statement in SQL]
    mine.fold()
    with duckdb.connect(tmp_path / "sessions.duckdb", read_only=True) as connection:
        after = [sorted(connection.execute(statement).fetchall(), key=repr) for statement in SQL]
    assert after == before


@pytest.mark.parametrize("query", SEARCHES)
def test_a_search_finds_what_it_is_said_to_find(home, query):
    found = store(home).search(query)
    assert found.total
    assert not found.partly


@pytest.mark.parametrize(
    "line", [line for block in blocks("bash") for line in block.splitlines() if line.startswith("hermes-kernel")]
)
def test_a_command_is_one_that_there_is(line):
    assert _parser().parse_args(shlex.split(line)[1:]).do


def test_the_code_runs_as_it_stands(home):
    environment = {**os.environ, "HOME": str(home.parent), "PYTHONPATH": str(ROOT)}
    code = "\n".join(blocks("python"))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "Forecasts" in done.stdout


def test_what_is_said_when_something_is_wrong_is_what_the_page_says():
    sources = (ROOT / "hermes_kernel" / "world" / "store").rglob("*.py")
    code = " ".join(path.read_text(encoding="utf-8") for path in sources)
    said = [piece.strip() for quoted in re.findall(r"“([^”]+)”", PAGE) for piece in re.split(r"…|\d+", quoted)]
    assert [piece for piece in said if piece and piece not in code] == []
