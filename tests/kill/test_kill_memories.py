"""What is remembered is lost neither by two who remember at once, nor by a hand in between, nor by a death."""

from __future__ import annotations

import os
import time

import pytest

from tests.kill.memories import CHILD, beside, explained, kill, opened, write_by_hand
from tests.kill.nursery import nursery

TIMES = int(os.environ.get("HERMES_TEST_MEMORIES", "20"))
KILLED = 12  # a hundred with `python -m tests.kill.memories 100`


@pytest.mark.slow
def test_two_processes_remember_many_things_each_and_a_person_writes_in_between(tmp_path):
    home = tmp_path / "home"
    some = opened(home)
    some.add("the first")
    writers = [beside(home, tmp_path / f"acks-{who}", who, TIMES) for who in ("one", "two")]
    by_hand = set()
    while any(writer.poll() is None for writer in writers):
        by_hand.add(write_by_hand(some.memory.path("memory"), len(by_hand)))
        done = len(some.memory.entries("memory"))
        while any(writer.poll() is None for writer in writers) and len(some.memory.entries("memory")) < done + 10:
            time.sleep(0.01)
    assert [writer.returncode for writer in writers] == [0, 0]
    explained(some)
    expected = {f"{who} {n}" for who in ("one", "two") for n in range(TIMES)}
    assert expected | by_hand <= set(some.memory.entries("memory"))
    assert len(some.memory.entries("memory")) == len(expected) + len(by_hand) + 2


@pytest.mark.slow
def test_what_killed_processes_acknowledged_is_remembered_and_every_change_is_explained(tmp_path):
    with nursery(CHILD) as children:
        told = kill(tmp_path / "home", children, KILLED, 0)
    some = opened(tmp_path / "home")
    facts = explained(some)
    assert told <= set(some.memory.entries("memory"))
    assert len(told) > KILLED
    assert {fact.by for fact in facts} == {"model", "hand"}
    left = {path.name for path in (tmp_path / "home" / "memories").iterdir()}
    assert left <= {"MEMORY.md", "MEMORY.md.lock", ".MEMORY.md.known", ".MEMORY.md.before", ".MEMORY.md.fresh"} | {
        ".MEMORY.md.known.fresh"
    }
