"""A lineage as the store knows it: branches, compressions, subagents and maps, folded or not, damaged or whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hermes_kernel.cli import main
from hermes_kernel.core.events import Continued, Opened, Titled
from hermes_kernel.looking import how_to_list, lineage, listed
from hermes_kernel.view.kept.descent import lines, tree_text
from hermes_kernel.view.kept.lineage import walk
from hermes_kernel.world.store import MemoryLog, NoSession
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.store.retention.deletion import delete
from tests.contracts.stores import Ticks, counted, store, turn
from tests.postgres import postgres, url  # noqa: F401 - fixtures


def born(session, kind="chat", parent="", prompt="How many?"):
    opened, *rest = turn(session, prompt)
    return [replace(opened, kind=kind, parent=parent), *rest]


def lived(log, fold=lambda: None):
    """A conversation with a branch, a subagent and looks, compressed once; a map; and somebody else."""
    log.append("chat1", *born("chat1", prompt="Where are the cranes?"), Titled("Cranes"))
    log.append("help1", *born("help1", "subagent", "chat1", "Count the cranes."))
    log.append("side1", *born("side1", parent="chat1"), Titled("Herons"))
    fold()
    log.append("chat2", *born("chat2", parent="chat1"), Titled("Cranes", again=True))
    log.append("chat1", Continued("chat2"))
    log.append("look1", *born("look1", "nudge", "chat2"))
    log.append("map01", Opened("map01", "", "some-model", "map"))
    for n in range(30):
        log.append(f"row{n:02}", *born(f"row{n:02}", "map", "map01", f"Row {n}"))
    log.append("other", *born("other"))
    return log


@pytest.fixture(params=["journal", "half folded", "folded", "shared"])
def log(request, tmp_path):
    if request.param == "shared":
        address = request.getfixturevalue("url")
        made = lived(open_store(tmp_path, address, clock=Ticks(), ids=counted()))
        yield made
        made.close()
        return
    mine = store(tmp_path)
    lived(mine, mine.fold if request.param == "half folded" else lambda: None)
    if request.param == "folded":
        mine.fold()
    yield mine


def shape(nodes):
    return [(node.kin.session, node.how, shape(node.below), *node.counts) for node in nodes]


def test_a_lineage_is_the_same_from_wherever_it_is_asked_for(log):
    whole = [
        ("chat1", "", [("help1", "subagent", []), ("side1", "branch", [])]),
        ("chat2", "goes on", [], ("nudge", 1)),
    ]
    for session in ("chat1", "chat2", "side1", "Herons", "help1"):
        assert shape(lineage(log, session).nodes) == whole
    assert [node.kin.title for node in walk(lineage(log, "chat2", "chat2").nodes)] == [
        "", "Count the cranes.", "Herons", "Cranes",
    ]  # fmt: skip


def test_the_rows_of_a_map_are_counted(log):
    found = lineage(log, "map01")
    assert shape(found.nodes) == [("map01", "map", [], ("map", 30))]
    assert len(found.known) == 31
    with pytest.raises(NoSession):
        lineage(log, "nobody")


def test_in_a_list_of_all_sessions_the_rows_of_a_map_are_one_line_and_none_is_missing(log):
    found = listed(log, 6)
    assert [(each.last.id, len(each.rows)) for each in found[:4]] == [
        ("other", 1),
        ("row29", 30),
        ("map01", 1),
        ("look1", 1),
    ]
    assert found[1].title == "30 rows, the last: Row 29"
    assert found[1].calls == 60
    assert len(found) == 6
    assert how_to_list(found, "%hermes sql {}") == (
        "Rows of one map are one line; `%hermes sql SELECT id, title FROM sessions WHERE parent = 'map01'` lists them."
    )
    assert how_to_list(found[2:], "%hermes sql {}") == ""


def test_a_map_whose_name_would_be_a_command_is_not_offered_to_be_pasted(tmp_path):
    log = store(tmp_path)
    for n in range(2):
        log.append(f"row{n}", *born(f"row{n}", "map", '"; rm -rf ~; "'))
    assert how_to_list(listed(log, 5), 'hermes-kernel sql "{}"') == ""


def test_parents_that_lead_in_a_circle_or_are_gone_are_no_hindrance(tmp_path):
    log = store(tmp_path)
    log.append("aaaa", *born("aaaa", parent="bbbb"))
    log.append("bbbb", *born("bbbb", parent="aaaa"), Continued("aaaa"))
    log.append("self", *born("self", parent="self"))
    for session in ("good", "kid1", "kid2"):
        log.append(session, *born(session, parent="good" if session != "good" else ""))
    for fold in (lambda: None, log.fold):
        fold()
        assert {node.kin.session for node in walk(lineage(log, "aaaa").nodes)} == {"aaaa", "bbbb"}
        assert shape(lineage(log, "self").nodes) == [("self", "branch", [])]
    delete(log, ["good"], 1_900_000_000.0)
    assert shape(lineage(log, "kid1").nodes) == [("good", "deleted", [("kid1", "branch", []), ("kid2", "branch", [])])]
    assert lines(lineage(log, "kid1"))[0].text == "good  deleted"


def test_the_command_line_shows_the_same_tree(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    log = lived(store(tmp_path))
    assert main(["sessions", "--tree", "side1"]) == 0
    assert capsys.readouterr().out == tree_text(lineage(log, "side1"), "hermes-kernel") + "\n"
    assert main(["sessions", "--tree", "chat1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["session"] for each in told} == {"chat1", "chat2", "help1", "side1", "look1"}
    assert main(["sessions", "--tree"]) == 0
    assert "other" in capsys.readouterr().out
    assert main(["sessions", "--tree", "nobody"]) == 1
    assert main(["sessions", "--all", "-n", "3"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert ["30 rows, the last: Row 29" in line for line in out] == [False, True, False, False]
    assert "hermes-kernel sql \"SELECT id, title FROM sessions WHERE parent = 'map01'\"" in out[-1]


def test_subagents_that_work_for_one_another_are_no_conversation_and_nobody_looks_for_one_for_ever(tmp_path):
    for log in (MemoryLog(clock=Ticks()), store(tmp_path)):
        log.append("chat1", *born("chat1"))
        log.append("aaaa", *born("aaaa", "subagent", "bbbb"))
        log.append("bbbb", *born("bbbb", "subagent", "aaaa"))
        assert log.latest() == "chat1"
