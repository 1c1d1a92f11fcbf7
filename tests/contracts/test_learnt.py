"""What was learnt is told by every archive in the same way: all of it, in the order of time, whoever wrote it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.core.learnt import LEARNT, LookDue, Looked, Remembered, SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store import MemoryLog, Store
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.store.records import Record
from hermes_kernel.world.store.retention.deletion import delete
from tests.contracts.stores import Ticks, child, counted, done, store, turn
from tests.postgres import postgres, url  # noqa: F401 - fixtures

FACTS = (
    Remembered("memory", ("likes tea",), ("likes tea", "uses SI units"), "model", "chat1", "they said so"),
    SkillUsed("plots"),
    SkillChanged("plots", "patch", "review", "a" * 64, "b" * 64, "SKILL.md", "chat1", "legend was wrong"),
    SkillMarked("plots", "pinned", "person"),
    LookDue("nudge", "chat1", "ten turns"),
    Looked("nudge", "chat1", "aside1", 10, ("memory",), "completed"),
    SkillUsed("plots", "use", "scripts/draw.py", "person", "chat2"),
)


class Folding:
    """A store of which every fact is in the database by the time it is asked for."""

    def __init__(self, log, by):
        self._log, self._by = log, by
        self.recall, self.learnt = log.recall, log.learnt

    def close(self):
        self._log.close()
        self._by.close()

    def append(self, session, *facts):
        self._log.append(session, *facts)
        self._by.fold()


class Half(Folding):
    """A store in which every other fact is folded only later."""

    _n = 0

    def append(self, session, *facts):
        for fact in facts:
            self._log.append(session, fact)
            self._n += 1
            if self._n % 2:
                self._by.fold()


class Elsewhere(Folding):
    """Told in one home, asked for in another that shares the store, and folds now and then."""

    def __init__(self, log, by):
        super().__init__(log, by)
        self.learnt = by.learnt


def shared(folder, url):  # noqa: F811
    return open_store(folder, url, clock=Ticks(), ids=lambda: uuid4().hex)


@pytest.fixture(params=["memory", "journal", "folded", "half folded", "shared", "shared, told elsewhere"])
def log(request, tmp_path):
    if request.param.startswith("shared"):
        url = request.getfixturevalue("url")
        here = shared(tmp_path / "here", url)
        log = Elsewhere(here, shared(tmp_path / "there", url)) if "elsewhere" in request.param else here
    elif request.param == "memory":
        log = MemoryLog(clock=Ticks())
    elif request.param == "journal":
        log = store(tmp_path)
    else:
        log = (Folding if request.param == "folded" else Half)(store(tmp_path), store(tmp_path, "by"))
    yield log
    log.close()


def facts(dated):
    return [each.fact for each in dated]


def test_everything_that_was_learnt_is_told_in_the_order_of_time(log):
    one, two = Chronicle(log, counted("one")), Chronicle(log, counted("two"))
    for n, fact in enumerate(FACTS):
        (one, two)[n % 2].record(fact)
    told = log.learnt()
    assert facts(told) == list(FACTS)
    assert [each.t for each in told] == sorted(each.t for each in told)


def test_facts_that_were_recorded_at_once_stay_in_their_order(log):
    Chronicle(log, counted()).record(*FACTS)
    assert facts(log.learnt()) == list(FACTS)


def test_only_the_kinds_that_are_asked_for_are_told(log):
    chronicle = Chronicle(log, counted())
    chronicle.record(*FACTS)
    assert facts(chronicle.read(SkillUsed)) == [FACTS[1], FACTS[6]]
    assert facts(chronicle.read(Remembered, LookDue)) == [FACTS[0], FACTS[4]]
    assert facts(chronicle.read()) == list(FACTS)


def test_facts_of_that_very_moment_are_told_and_none_before_it(log):
    Chronicle(log, counted()).record(*FACTS[:3])
    Chronicle(log, counted("later")).record(FACTS[3])
    later = log.learnt()[3].t
    assert facts(log.learnt(LEARNT, later)) == [FACTS[3]]
    assert log.learnt(LEARNT, later + 1e-3) == ()


def test_what_is_said_in_conversations_is_no_such_fact(log):
    for fact in turn("chat1"):
        log.append("chat1", fact)
    Chronicle(log, counted()).record(FACTS[0])
    assert facts(log.learnt()) == [FACTS[0]]
    assert log.learnt([Opened, Asked]) == ()


def test_where_nothing_was_learnt_nothing_is_told(log):
    assert log.learnt() == ()


def test_the_same_is_told_again_and_what_came_since(log):
    chronicle = Chronicle(log, counted())
    for n, fact in enumerate(FACTS, 1):
        chronicle.record(fact)
        assert facts(log.learnt()) == list(FACTS[:n])


RECORD = """
import sys
from pathlib import Path
from uuid import uuid4
from hermes_kernel.core.learnt import SkillUsed
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store import Store
store = Store(Path(sys.argv[1]))
chronicle = Chronicle(store, lambda: uuid4().hex)
for n in range(20):
    chronicle.record(SkillUsed(f"{sys.argv[2]}-{n}"))
    if n % 7 == 6:
        store.fold()
store.close()
"""


def test_several_processes_record_at_once_and_each_fact_is_told_once(tmp_path):
    log = store(tmp_path)
    processes = [child(RECORD, tmp_path, name) for name in "abc"]
    while any(process.poll() is None for process in processes):
        names = [fact.name for fact in facts(log.learnt())]
        assert len(names) == len(set(names))
    for process in processes:
        done(process)
    names = [fact.name for fact in facts(log.learnt())]
    assert sorted(names) == sorted(f"{who}-{n}" for who in "abc" for n in range(20))
    for who in "abc":
        assert [name for name in names if name[0] == who] == [f"{who}-{n}" for n in range(20)]
    log.fold()
    assert [fact.name for fact in facts(log.learnt())] == names


@pytest.mark.parametrize("folded", [False, True])
def test_what_a_later_version_learnt_is_passed_over(tmp_path, folded):
    log = store(tmp_path)
    strange = (
        {"fact": "Dreamt", "of": "sheep"},
        {"fact": "SkillUsed", "by": "model"},
        {"fact": "SkillUsed", "name": "a", "mood": 3},
    )
    log.take([Record(f"u{n}", "learning1", n, float(n), fact) for n, fact in enumerate(strange)])
    if folded:
        log.fold()
    assert facts(log.learnt()) == [SkillUsed("a")]


@pytest.mark.parametrize("folded", [False, True])
def test_nothing_is_told_of_a_session_that_was_deleted(tmp_path, folded):
    log = store(tmp_path)
    Chronicle(log, counted("kept")).record(FACTS[0])
    Chronicle(log, counted("gone")).record(FACTS[1])
    if folded:
        log.fold()
    delete(log, ["gone0000000001"], 0)
    assert facts(log.learnt()) == facts(Store(tmp_path).learnt()) == [FACTS[0]]


def test_whoever_cannot_be_asked_is_named(tmp_path):
    log = store(tmp_path)
    Chronicle(log, counted()).record(*FACTS)
    log.fold()
    held = child(
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()",
        tmp_path / "sessions.duckdb",
        stdin=-1,
    )
    assert held.stdout.readline() == "held\n"
    from hermes_kernel.world.store import StoreError

    with pytest.raises(StoreError, match=f"held open by process {held.pid}"):
        log.learnt()
    held.communicate()
    assert facts(log.learnt()) == list(FACTS)
