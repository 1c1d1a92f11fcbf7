"""Sessions that are no conversations: kept and readable, and never in the way of those that are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hermes_kernel.cli import main
from hermes_kernel.core.events import Asked, Final, Opened, Outcome, Replied, Undone
from hermes_kernel.core.learnt import LOOPS, SkillUsed
from hermes_kernel.core.search.passages import BESIDE
from hermes_kernel.export import FORMATS, export
from hermes_kernel.looking import conversation, conversations
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store import MemoryLog, Store
from hermes_kernel.world.store.retention.compaction import compact
from hermes_kernel.world.store.retention.deletion import stale
from tests.contracts.stores import Ticks, counted, store, turn

WORD = "xylophone"


def beside(kind, session, parent="chat1"):
    """What a slow loop says to itself, in a turn with a tool."""
    opened, *rest = turn(session, f"They said {WORD}. What is worth keeping?", f"That they said {WORD}.")
    return [replace(opened, kind=kind, parent=parent), *rest]


def said(log, fold=lambda: None):
    """Two conversations, in the first of which something was said; then whatever looked at it."""
    log.append("chat1", *turn("chat1", f"I like the {WORD}.", "Noted."))
    log.append("chat2", *turn("chat2", "What is the time?", "Late.", notebook="b.ipynb"))
    fold()
    Chronicle(log, counted("learning")).record(SkillUsed("plots"))
    for kind in LOOPS:
        log.append(f"{kind}1", *beside(kind, f"{kind}1", "" if kind == "curator" else "chat1"))
    fold()
    return log


@pytest.fixture(params=["memory", "journal", "folded"])
def log(request, tmp_path):
    if request.param == "memory":
        return said(MemoryLog(clock=Ticks()))
    mine = store(tmp_path)
    return said(mine, mine.fold if request.param == "folded" else lambda: None)


def test_the_latest_conversation_is_the_one_a_person_was_in(log):
    assert (log.latest(), log.find("last")) == ("chat2", "chat2")
    assert (log.latest("a.ipynb"), log.latest("b.ipynb")) == ("chat1", "chat2")


def test_where_nobody_said_anything_there_is_no_latest(tmp_path):
    for log in (MemoryLog(), store(tmp_path)):
        Chronicle(log, counted()).record(SkillUsed("plots"))
        log.append("curator1", *beside("curator", "curator1", ""))
        assert log.latest() is None


def test_what_was_said_is_found_once_where_it_was_said(log):
    found = log.search(WORD)
    assert (found.total, [hit.passage.session for thread in found.threads for hit in thread.hits]) == (1, ["chat1"])
    assert log.search("worth keeping", 5).total == 0
    assert log.search("role:tool").total == 2


def test_what_was_taken_back_there_and_said_again_is_not_found_either(tmp_path):
    log = said(store(tmp_path))
    log.fold()
    log.append(
        "nudge1", Undone(), Asked(f"The {WORD} once more"), Replied(f"{WORD}!"), Final(Outcome.COMPLETED, f"{WORD}!")
    )
    assert log.search(WORD).total == 1
    log.fold()
    assert Store(tmp_path).search(WORD).total == 1


def test_they_can_be_read_by_their_ids(log):
    assert WORD in log.passages("nudge1")[0].text
    assert log.find("revi") == "review1"


@pytest.mark.parametrize("fold", [False, True])
def test_lists_have_conversations_and_all_of_them_but_not_what_was_learnt(tmp_path, fold):
    log = said(store(tmp_path), store(tmp_path, "by").fold if fold else lambda: None)
    assert [row.id for row in conversations(log, 20)] == ["chat2", "chat1"]
    assert [row.id for row in log.sessions(20)] == ["curator1", "review1", "nudge1", "chat2", "chat1"]
    assert [row.id for row in log.sessions(4)] == ["curator1", "review1", "nudge1", "chat2"]
    assert [row.id for row in conversations(log, 1)] == ["chat2"]


def test_a_list_is_full_however_many_processes_have_learnt_something(tmp_path):
    log = store(tmp_path)
    for n in range(3):
        log.append(f"chat{n}", *turn(f"chat{n}"))
    for n in range(40):
        Chronicle(log, counted(f"l{n}n")).record(SkillUsed("plots"))
    assert (
        [row.id for row in log.sessions(3)] == [row.id for row in conversations(log, 3)] == ["chat2", "chat1", "chat0"]
    )
    assert log.latest() == "chat2"


def test_a_conversation_does_not_name_them_as_its_branches(tmp_path):
    told = conversation(said(store(tmp_path)), "chat1")
    assert (told.children, told.rows) == ((), 0)
    assert conversation(store(tmp_path), "nudge1").parent.session == "chat1"


def test_the_family_of_a_conversation_has_what_looked_at_it(log):
    if isinstance(log, Store):
        assert log.family("chat1") == {"chat1", "nudge1", "review1"}


def test_what_was_learnt_has_no_age_and_what_looked_at_it_has(tmp_path):
    log = said(store(tmp_path))
    assert set(stale(log.home, 3e9)) == {"chat1", "chat2", "nudge1", "review1", "curator1"}
    log.fold()
    compact(log.home)
    assert set(stale(log.home, 3e9)) == {"chat1", "chat2", "nudge1", "review1", "curator1"}
    assert [each.fact for each in log.learnt()] == [SkillUsed("plots")]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("session", ["learning0000000001", "nudge1"])
def test_they_are_written_to_files_of_every_kind(tmp_path, form, session):
    assert export(said(store(tmp_path)).records(session), form)


def test_what_was_learnt_goes_from_home_to_home_in_a_file(tmp_path, monkeypatch, capsys):
    def hermes(home, *words):
        monkeypatch.setenv("HERMES_HOME", str(tmp_path / home))
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out

    said(store(tmp_path / "a")).close()
    file = tmp_path / "kept.jsonl"
    for session in ("learning0000000001", "nudge1"):
        hermes("a", "export", session, "-o", file, "--force")
        hermes("b", "import", file)
    assert [each.fact for each in store(tmp_path / "b").learnt()] == [SkillUsed("plots")]
    assert [row.kind for row in store(tmp_path / "b").sessions()] == ["nudge"]
    assert "nudge" in hermes("b", "sessions", "--all")
    assert "There are no conversations" in hermes("b", "sessions")
    assert WORD in hermes("b", "show", "nudge1")


def test_every_kind_that_is_beside_is_one_of_these():
    assert {"learning", "schedule", *LOOPS} == BESIDE
    assert Opened("s").kind not in BESIDE
