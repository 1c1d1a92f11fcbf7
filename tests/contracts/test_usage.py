"""Every token that any kind of session has spent is in the account of the home, and none is there twice."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from hermes_kernel.cli import main
from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Continued,
    Failed,
    Final,
    Interrupted,
    Leased,
    Opened,
    Outcome,
    Replied,
    Returned,
    Spent,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.learnt import LookDue, Looked, Remembered, SkillUsed
from hermes_kernel.core.messages import Usage
from hermes_kernel.looking import BY, beside, spending
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.opening import open_store
from tests.contracts.stores import counted, store
from tests.postgres import postgres, url  # noqa: F401 - fixtures

DAY = 86_400.0
TODAY = 1_800_000_000.0 // DAY * DAY


def used(n, calls=1, **more):
    """Different for each `n`, so that no sum can be another's."""
    return Usage(calls, 1_000 * n, 100 * n, 10 * n, n, 0.5 * n, **more)


def one(session, kind, n, parent=""):
    """A session that made one call."""
    return [
        Opened(session, model="m", kind=kind, parent=parent),
        Asked("Go."),
        Replied("Gone.", usage=used(n), model=f"m-{kind}"),
        Final(Outcome.COMPLETED, "Gone."),
    ]


CHAT = [
    Opened("chat1", model="m"),
    Asked("Go."),
    Failed(Fault.TIMEOUT, usage=used(1, estimated=True), model="m-chat"),
    Replied("", usage=used(2), model="m-chat"),
    Leased("sub1", 5, "a task"),
    Returned("sub1", 1, Outcome.COMPLETED, used(20)),  # what sub1 has spent, and says itself
    Compressed((), 9000, 100, usage=used(3, 2)),
    Spent(used(4), "a summary that was not used"),
    Spent(used(21), "subagents", itemised=True),  # what sub2 has spent, between two turns
    Spent(used(50, 3), "a nudge", itemised=True),
    Interrupted(usage=used(5)),
    Final(Outcome.INTERRUPTED, ""),
    Continued("chat2"),
]
EARLIER = used(1) + used(2) + used(20) + used(3, 2) + used(4) + used(21) + used(5)
SESSIONS = {
    "chat1": CHAT,
    "chat2": [Opened("chat2", model="m", parent="chat1", earlier=EARLIER), *one("", "chat", 6)[1:]],
    "sub1": one("sub1", "subagent", 20, "chat1"),
    "sub2": one("sub2", "subagent", 21, "chat1"),
    "map1": [Opened("map1", model="m", kind="map"), Asked("each"), Final(Outcome.COMPLETED, "")],
    "row1": one("row1", "map", 30, "map1"),
    "row2": one("row2", "map", 31, "map1"),
    "nudge1": one("nudge1", "nudge", 50, "chat1"),
    "nudge2": one("nudge2", "nudge", 51, "chat2"),
    "nudge3": one("nudge3", "nudge", 52, "another"),
    "review1": one("review1", "review", 60, "chat2"),
    "curator1": one("curator1", "curator", 70),
}
BY_KIND = {
    "chat": used(1) + used(2) + used(3, 2) + used(4) + used(5, estimated=True) + used(6),
    "subagent": used(20) + used(21),
    "map": used(30) + used(31),
    "nudge": used(50) + used(51) + used(52),
    "review": used(60),
    "curator": used(70),
}
TOTAL = sum(BY_KIND.values(), Usage())
LEARNT = (
    Remembered("memory", (), ("a",), "nudge"),
    SkillUsed("a"),
    LookDue("nudge", "chat1"),
    Looked("nudge", "chat1", "nudge1", 1, ("memory",), "completed"),
)


class At(SystemClock):
    """A time that is told."""

    def __init__(self, t=TODAY + 3600):
        self.t = t

    def now(self):
        return self.t


def spent(log):
    for session, facts in SESSIONS.items():
        log.append(session, *facts)
    Chronicle(log, counted("learning")).record(*LEARNT)
    return log


@pytest.fixture(scope="module", params=["journal", "folded", "half folded", "shared", "shared, told elsewhere"])
def log(request, tmp_path_factory):
    """Only read, so made once."""
    home = tmp_path_factory.mktemp("home")
    if request.param.startswith("shared"):
        url = request.getfixturevalue("postgres").database()
        homes = [open_store(home / name, url, clock=At(), ids=lambda: uuid4().hex) for name in ("here", "there")]
        spent(homes[0])
        yield homes["elsewhere" in request.param]
        for home in homes:
            home.close()
        return
    log = store(home)
    spent(log)
    if request.param != "journal":
        log.fold()
    if request.param == "half folded":
        log.append("nudge1", *one("", "nudge", 7)[1:], *one("", "nudge", 8)[1:3])
        log.append("nudge1", Spent(used(9), "more"))
        log.append("nudge1", Spent(used(15), "what is counted elsewhere", itemised=True))
    yield log
    log.close()


def more(log):
    """What the half folded one has besides."""
    added = len(log.recall("nudge1")) > len(SESSIONS["nudge1"])
    return used(7) + used(8) + used(9) if added else Usage()


def test_each_kind_of_session_has_exactly_what_it_spent(log):
    found = {row.name: row.usage for row in log.usage()}
    assert found == BY_KIND | {"nudge": BY_KIND["nudge"] + more(log)}


@pytest.mark.parametrize("by", BY)
def test_however_it_is_added_up_the_sum_is_the_same(log, by):
    found = spending(log, by)
    assert found.total == TOTAL + more(log)
    assert len({row.name for row in found.rows}) == len(found.rows)


def test_each_session_and_each_model_has_its_own(log):
    sessions = {row.name: row for row in log.usage(by="session")}
    assert sessions.keys() == SESSIONS.keys() - {"map1"}
    assert sessions["review1"].usage == used(60)
    assert sessions["chat2"].title == "Go."
    models = {row.name: row.usage for row in log.usage(by="model")}
    assert models["m-curator"] == used(70)
    assert models["m-chat"] == used(1) + used(2, estimated=True) + used(6)


def test_the_views_say_the_same(log):
    with log.connect() as connection:
        question = "SELECT sum(calls), sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(reasoning_tokens), sum(cost) FROM "
        whole = TOTAL + more(log)
        wanted = [
            (
                whole.calls,
                whole.input_tokens,
                whole.output_tokens,
                whole.cached_tokens,
                whole.reasoning_tokens,
                whole.cost,
            )
        ]
        assert connection.execute(question + "usage").fetchall() == wanted
        assert connection.execute(question + "calls").fetchall() == wanted
        assert connection.execute("SELECT sum(calls), sum(tokens) FROM sessions").fetchall() == [
            (whole.calls, whole.input_tokens + whole.output_tokens)
        ]


def test_what_worked_beside_a_conversation_is_told_by_kind_for_all_sessions_it_is_made_of(log):
    for session in ("chat1", "chat2"):
        found = {row.name: (row.sessions, row.usage) for row in beside(log, session)}
        assert found == {"nudge": (2, used(50) + used(51) + more(log)), "review": (1, used(60))}
    assert beside(log, "sub1") == ()


def test_an_account_agrees_with_what_the_conversation_itself_has_counted(log):
    """Its own calls, those of its subagents, and nothing of the slow loops."""
    kinds = {row.name: row.usage for row in log.usage()}
    assert EARLIER + used(6, estimated=True) == kinds["chat"] + kinds["subagent"]


def test_a_conversation_that_was_never_told_anything_is_not_there(tmp_path):
    assert beside(store(tmp_path), "none") == ()
    assert store(tmp_path).usage() == ()
    assert spending(store(tmp_path)).table() == ((), ())


@pytest.mark.parametrize("folded", [False, True])
def test_days_are_counted_back_from_today(tmp_path, folded):
    clock = At()
    log = Store(tmp_path, clock=clock)
    for ago in (0, 1, 6, 7):
        clock.t = TODAY - ago * DAY
        log.append(f"s{ago}", *one(f"s{ago}", "chat", ago + 1))
    if folded:
        log.fold()
    clock.t = TODAY + DAY - 1
    assert [row.name for row in log.usage(by="day")] == ["2027-01-15", "2027-01-14", "2027-01-09", "2027-01-08"]
    assert {row.name for row in log.usage(1, "session")} == {"s0"}
    assert {row.name for row in log.usage(2, "session")} == {"s0", "s1"}
    assert {row.name for row in log.usage(7, "session")} == {"s0", "s1", "s6"}
    assert {row.name for row in log.usage(99_999, "session")} == {"s0", "s1", "s6", "s7"}


def test_many_sessions_are_a_few_lines_and_the_sum_is_of_all(tmp_path):
    log = store(tmp_path)
    for n in range(40):
        log.append(f"s{n}", *one(f"s{n}", "chat", n + 1))
    columns, rows = spending(log, "session").table()
    assert len(rows) == 32
    assert rows[0][0] == "s39"
    assert rows[-2][1] == "10 more sessions"
    for name in ("sessions", "calls", "input tokens"):
        column = columns.index(name)
        assert sum(row[column] for row in rows[:-1]) == rows[-1][column]
    assert rows[-1][columns.index("input tokens")] == sum(1000 * n for n in range(1, 41))


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))

    def say(*words: str):
        code = main(["usage", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return say


def test_the_command_tells_every_kind_and_the_sum(said, tmp_path):
    assert "No model has been asked" in said()[1]
    spent(store(tmp_path)).close()
    code, out, trouble = said()
    assert (code, trouble) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    for kind, usage in BY_KIND.items():
        assert f"{usage.input_tokens:,}" in lines[kind]
    assert f"{TOTAL.input_tokens:,}" in lines["total"]
    assert "Partly estimated" in out
    told = json.loads(said("--by", "model", "--days", "9", "--json")[1])
    assert (told["by"], {row["name"] for row in told["rows"]} >= {"m-nudge", "m-curator", ""}) == ("model", True)
    told = json.loads(said("--json")[1])
    assert told["total"] == {
        "calls": TOTAL.calls,
        "input_tokens": TOTAL.input_tokens,
        "output_tokens": TOTAL.output_tokens,
        "cached_tokens": TOTAL.cached_tokens,
        "reasoning_tokens": TOTAL.reasoning_tokens,
        "cost": TOTAL.cost,
        "estimated": True,
        "tokens": TOTAL.input_tokens + TOTAL.output_tokens,
    }
    assert {row["name"]: row["calls"] for row in told["rows"]}["nudge"] == 3


def test_what_to_add_up_by_may_stand_alone_as_in_a_notebook(said):
    assert json.loads(said("model", "--json")[1])["by"] == "model"


def test_what_is_asked_for_wrongly_is_refused_by_name(said, capsys):
    code, _, trouble = said("--days", "0")
    assert code == 2
    assert "1 to 99,999" in trouble
    with pytest.raises(SystemExit, match="2"):
        said("--by", "moon")
    assert "kind" in capsys.readouterr().err
