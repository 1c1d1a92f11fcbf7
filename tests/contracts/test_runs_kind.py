"""A run's conversation is one of its own kind: listed, searched and paid for, and in nobody's way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hermes_kernel.agent import Agent
from hermes_kernel.core.events import Continued, Opened
from hermes_kernel.looking import conversation, conversations
from hermes_kernel.testing import Server, forever, say
from hermes_kernel.world.store import MemoryLog
from tests.contracts.stores import Ticks, store, turn

RUN = "abcdef01-20261207T080000Z"


def run(session, prompt="What is new?", parent="", **more):
    """A run's conversation."""
    opened, *rest = turn(session, prompt, "A xylophone.", notebook=RUN)
    return [replace(opened, kind="run", parent=parent, **more), *rest]


def said(log, fold=lambda: None):
    """A person's conversation, then a run, which was compressed and had a subagent."""
    log.append("chat1", *turn("chat1", "What is the time?", "Late."))
    log.append("runs1", *run("runs1"))
    fold()
    opened, *rest = turn("helps1", "Look.", "Seen.", notebook=RUN)
    log.append("helps1", replace(opened, kind="subagent", parent="runs1"), *rest)
    log.append("runs2", *run("runs2", "And then?", parent="runs1"))
    log.append("runs1", Continued("runs2"))
    log.append("runs2", *turn("runs2")[1:])
    fold()
    return log


@pytest.fixture(params=["memory", "journal", "folded"])
def log(request, tmp_path):
    if request.param == "memory":
        return said(MemoryLog(clock=Ticks()))
    mine = store(tmp_path)
    return said(mine, mine.fold if request.param == "folded" else lambda: None)


def test_the_last_conversation_is_never_a_run(log):
    assert (log.latest(), log.find("last"), log.latest("a.ipynb")) == ("chat1", "chat1", "chat1")


def test_a_run_is_found_under_its_own_name_in_the_session_it_goes_on_in(log):
    assert log.latest(RUN) == "runs2"


def test_what_was_said_in_it_is_found(log):
    assert log.search("xylophone").total == 2


@pytest.mark.parametrize("made", [lambda _: MemoryLog(clock=Ticks()), store], ids=["memory", "store"])
def test_where_there_are_only_runs_there_is_no_last_conversation(made, tmp_path):
    log = made(tmp_path)
    log.append("runs1", *run("runs1"))
    assert log.latest() is None


def test_lists_of_conversations_are_without_it_and_those_of_all_sessions_say_what_it_is(tmp_path):
    log = said(store(tmp_path))
    assert [row.id for row in conversations(log, 20)] == ["chat1"]
    assert {row.id: row.kind for row in log.sessions(20)} == {
        "runs2": "run", "runs1": "run", "helps1": "subagent", "chat1": "chat",
    }  # fmt: skip


def test_a_run_that_was_compressed_goes_on_and_is_no_branch(tmp_path):
    told = conversation(said(store(tmp_path)), "runs1")
    assert (told.kind, told.further, told.children) == ("run", "runs2", ())


def test_what_it_cost_is_told_by_its_kind(tmp_path):
    log = said(store(tmp_path))
    with log.connect() as connection:
        rows = dict(connection.execute("SELECT kind, sum(calls)::INT FROM usage GROUP BY kind").fetchall())
    assert rows == {"chat": 2, "run": 6, "subagent": 2}


@pytest.mark.parametrize(("name", "kind", "notebook"), [("", "chat", "n.ipynb"), (RUN, "run", RUN)])
async def test_an_agent_in_a_run_opens_its_conversations_as_the_runs(monkeypatch, tmp_path, name, kind, notebook):
    monkeypatch.setenv("HERMES_RUN", name)
    log = MemoryLog()
    with Server([forever(say("Yes."))]) as server:
        async with Agent(
            "scripted", base_url=server.url, api_key="none", home=tmp_path, log=log, notebook="n.ipynb", learning=False
        ) as agent:
            await agent.ask("Is it?")
            first = agent.session_id
            agent.branch()
            await agent.ask("Really?")
    opened = [fact for session in (first, agent.session_id) for fact in log.recall(session) if isinstance(fact, Opened)]
    assert [(each.kind, each.notebook) for each in opened] == [(kind, notebook)] * 2
