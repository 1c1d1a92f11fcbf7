"""The index of the database finds what a look at every message finds, whatever was folded, sealed, undone or deleted
between: held to `core.search.rank` message by message."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import Asked, Compressed, Final, Kept, Observed, Opened, Outcome, Replied, Titled, Undone
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.plain import dump
from hermes_kernel.core.search.found import Found
from hermes_kernel.core.search.query import Filters, Query, Term
from hermes_kernel.world.store import MemoryLog, NoSession, Store
from hermes_kernel.world.store.fold import fold
from hermes_kernel.world.store.index.postings import Shape
from hermes_kernel.world.store.records import Record
from tests.contracts.stores import Ticks, child, counted, done, store, turn

SMALL = Shape(largest=64, runs=1, fan=2, paired=3, common=3)
"""Runs as a store of a million messages has them, with pairs and merges, after a handful."""

WORDS = ("the", "of", "best", "read_csv", "fooBar", "桂林", "山水", "không", "có", "data.csv", "3.14", "the")
TEXT = st.lists(st.sampled_from(WORDS), min_size=0, max_size=12).map(" ".join)
UNITS = (
    "the",
    "of",
    "best",
    "read_csv",
    "read",
    "csv",
    "foobar",
    "foo",
    "bar",
    "桂",
    "林",
    "山",
    "khong",
    "co",
    "data",
    "3",
)

TERMS = st.builds(Term, st.lists(st.sampled_from(UNITS), min_size=1, max_size=4).map(tuple), prefix=st.booleans()).map(
    lambda term: replace(term, units=(*term.units[:-1], term.units[-1][:1])) if term.prefix else term
)
FILTERS = st.builds(
    Filters,
    role=st.sampled_from([(), ("user",), ("assistant", "tool")]),
    no_role=st.sampled_from([(), (), ("title",)]),
    tool=st.sampled_from([(), (), ("python",)]),
    notebook=st.sampled_from([(), (), ("b",)]),
    no_model=st.sampled_from([(), (), ("large",)]),
    session=st.sampled_from([(), (), ("s1", "s2")]),
    no_session=st.sampled_from([(), (), ("s0",)]),
)
QUERIES = st.builds(
    Query,
    st.lists(st.lists(TERMS, min_size=1, max_size=2).map(tuple), max_size=3).map(tuple),
    st.lists(TERMS, max_size=1).map(tuple),
    FILTERS,
)


def facts(number: int, words: Sequence[str]) -> list[Kept]:
    """A turn that says these texts: a prompt, a reply with a call, its result, an answer."""
    prompt, reply, result, answer = words
    call = ToolCall(f"c{number}", "python" if number % 2 else "terminal", '{"code": "the best"}')
    return [
        Asked(prompt),
        Replied(reply, (call,)),
        Observed(call.id, result),
        Replied(answer),
        Final(Outcome.COMPLETED, answer),
    ]


ACT = st.one_of(
    st.tuples(st.just("turn"), st.integers(0, 3), st.tuples(TEXT, TEXT, TEXT, TEXT)),
    st.tuples(st.just("title"), st.integers(0, 3), TEXT),
    st.tuples(st.just("undo"), st.integers(0, 3), st.integers(1, 2)),
    st.tuples(st.just("branch"), st.integers(0, 3), st.none()),
    st.tuples(st.just("fold"), st.none(), st.none()),
)


def opened(session: int, parent: str = "") -> Opened:
    model, notebook = ("small", "large")[session % 2], ("a.ipynb", "b.ipynb")[session // 2 % 2]
    return Opened(f"s{session}", "", model, parent=parent, notebook=notebook)


class Both:
    """The same said to a store and to a log in memory, at the same times."""

    def __init__(self, home: Path) -> None:
        self.store = Store(home, clock=Ticks(), ids=counted())
        self.memory = MemoryLog(clock=Ticks())
        self._there: set[int] = set()

    def tell(self, session: int, told: list[Kept]) -> None:
        if session not in self._there:
            self._there.add(session)
            told = [opened(session, f"s{session - 1}" if session % 2 else ""), *told]
        for fact in told:
            self.store.append(f"s{session}", fact)
            self.memory.append(f"s{session}", fact)


def shape(found: Found) -> tuple[object, ...]:
    """What may not differ: how many, how well, and which, where no two are as good."""
    scores = sorted((round(hit.score, 6) for hit in found.hits), reverse=True)
    texts = sorted((round(hit.score, 6), hit.passage.text) for hit in found.hits)
    return found.total, found.partly, scores, texts, len(found.threads)


def act(both: Both, number: int, what: tuple[str, int, object]) -> None:
    match what:
        case ("turn", session, tuple() as words):
            both.tell(session, facts(number, words))
        case ("title", session, str() as title):
            both.tell(session, [Titled(title)])
        case ("undo", session, int() as turns):
            both.tell(session, [Undone(turns)])
        case ("fold", _, _):
            fold(both.store.home.places, shape=SMALL)


@given(st.lists(ACT, min_size=1, max_size=14), st.lists(QUERIES, min_size=1, max_size=5), st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_found_in_the_database_and_its_tail_is_what_a_look_at_every_message_finds(
    tmp_path_factory: pytest.TempPathFactory,
    acts: list[tuple[str, int, object]],
    queries: list[Query],
    data: st.DataObject,
) -> None:
    both = Both(tmp_path_factory.mktemp("home"))
    for number, what in enumerate(acts):
        act(both, number, what)
        if data.draw(st.booleans()):
            both.store.search(queries[0])  # what is remembered of the tail is never stale
    for query in queries:
        assert shape(both.store.search(query, 100)) == shape(both.memory.search(query, 100)), query


def test_what_another_process_said_a_moment_ago_is_found(tmp_path: Path) -> None:
    log = store(tmp_path)
    for fact in turn("mine", "nothing of the kind"):
        log.append("mine", fact)
    log.fold()
    assert log.search("walrus").total == 0
    done(child(SAYS, tmp_path, "walrus one"))
    assert [hit.passage.text for hit in log.search("walrus").hits] == ["walrus one"]
    done(child(SAYS, tmp_path, "walrus two"))
    assert log.search("walrus").total == 2
    log.fold()
    assert log.search("walrus").total == 2


SAYS = """
import sys
from pathlib import Path
from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.store import Store
Store(Path(sys.argv[1])).append(sys.argv[2], Opened(sys.argv[2]), Asked(sys.argv[2]))
"""


def test_an_undo_that_is_not_folded_yet_hides_what_is(tmp_path: Path) -> None:
    log = store(tmp_path)
    log.append("s", opened(0), Asked("walrus first"), Asked("walrus second"))
    log.fold()
    log.append("s", Undone(1))
    assert [hit.passage.text for hit in log.search("walrus").hits] == ["walrus first"]
    log.fold()
    assert [hit.passage.text for hit in log.search("walrus").hits] == ["walrus first"]


def test_a_database_that_somebody_holds_open_is_left_out_and_said_so(tmp_path: Path) -> None:
    log = store(tmp_path)
    log.append("old", opened(0), Asked("walrus of old"))
    log.close()
    log.fold()
    log.append("new", opened(1), Asked("walrus of late"))
    holder = child(HOLDS, tmp_path / "sessions.duckdb", stdin=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    found = log.search("walrus")
    assert [hit.passage.text for hit in found.hits] == ["walrus of late"]
    assert f"process {holder.pid}" in found.note
    assert "Store.connect()" in found.note
    holder.communicate("go", timeout=30)
    assert log.search("walrus").total == 2


HOLDS = """
import sys, duckdb
held = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_facts_that_come_before_those_that_are_indexed_find_their_place(tmp_path: Path) -> None:
    late = store(tmp_path)
    kept: list[Kept] = [opened(0), Asked("walrus first"), Replied("heard"), Undone(1)]
    told = [Record(f"x.{n}", "s", n, 1.0 + n, dump(fact)) for n, fact in enumerate(kept)]
    late.take([told[0], told[3]])
    late.fold()
    late.take(told[1:3])
    assert late.search("walrus").total == 0
    late.fold()
    assert late.search("walrus").total == 0
    late.take([Record("x.9", "s", 9, 9.0, dump(Asked("walrus later")))])
    late.fold()
    assert [hit.passage.text for hit in late.search("walrus").hits] == ["walrus later"]


def test_an_index_made_at_once_is_the_same_as_one_that_grew(tmp_path: Path) -> None:
    log, other = store(tmp_path / "grown"), store(tmp_path / "made")
    for number in range(12):
        log.append(f"s{number % 3}", *([opened(number % 3)] if number < 3 else []), *facts(number, WORDS[:4]))
        fold(log.home.places, shape=SMALL)
    other.take([record for session in ("s0", "s1", "s2") for record in log.records(session)])
    other.fold()
    assert log.search("the best", 100).total > 0
    assert shape(other.search("the best", 100)) == shape(log.search("the best", 100))


@pytest.mark.parametrize("folded", [False, True])
def test_a_session_is_named_by_its_beginning_its_title_or_as_the_last(tmp_path: Path, folded: bool) -> None:
    log = store(tmp_path)
    log.append("abcdef-1", opened(0), Asked("Which tides?"))
    log.append("abcdef-2", opened(1), Asked("Which moons?"), Titled("Moons"))
    if folded:
        log.fold()
    assert [log.find(name) for name in ("abcdef-1", "Moons", "Which tides?", "last")] == [
        "abcdef-1", "abcdef-2", "abcdef-1", "abcdef-2",
    ]  # fmt: skip
    with pytest.raises(NoSession, match="abcdef-1, abcdef-2"):
        log.find("abcd")
    with pytest.raises(NoSession):
        log.find("abc")


@pytest.mark.parametrize("folded", [False, True])
def test_what_a_search_brought_back_is_read_and_not_found_again(tmp_path: Path, folded: bool) -> None:
    log = store(tmp_path)
    log.append("old", opened(0), Asked("Where does the heron nest?"))
    searched = ToolCall("c1", "session_search", '{"query": "heron"}')
    log.append(
        "new", opened(1), Asked("Look it up"), Replied("", (searched,)), Observed("c1", "Where does the heron nest?")
    )
    if folded:
        log.fold()
    found = log.search("nest")
    assert [hit.passage.session for hit in found.hits] == ["old"]
    assert found.total == 1
    assert log.passages("new")[-1].text == "Where does the heron nest?"


@pytest.mark.parametrize("folded", [False, True])
def test_a_connection_reads_database_and_tail_as_one_and_writes_neither(tmp_path: Path, folded: bool) -> None:
    log = store(tmp_path)
    log.append("s", *turn("s"))
    if folded:
        log.fold()
    log.append("t", *turn("t"))
    with log.connect() as connection:
        assert connection.execute("SELECT id FROM sessions ORDER BY id").fetchall() == [("s",), ("t",)]
        assert connection.execute("SELECT count(*) FROM messages WHERE session = 't'").fetchall() == [(4,)]
        assert connection.execute("SELECT count(*), count(DISTINCT uid) FROM facts").fetchall() == [(14, 14)]


def test_messages_undone_across_a_compression_are_no_messages(tmp_path: Path) -> None:
    log = store(tmp_path)
    log.append("s", opened(0), Asked("one"), Asked("two"), Compressed((), 9, 1), Asked("three"), Undone(3))
    for _ in range(2):
        with log.connect() as connection:
            assert connection.execute("SELECT text FROM messages").fetchall() == [("one",)]
        assert [passage.text for passage in log.passages("s")] == ["one"]
        log.fold()


def test_a_forked_child_searches_and_ends_well(tmp_path: Path) -> None:
    log = store(tmp_path)
    log.append("s", opened(0), Asked("walrus"))
    log.fold()
    log.close()
    assert done(child(FORKS, tmp_path)) == "1\n1 0\n"


FORKS = """
import os, sys
from pathlib import Path
from hermes_kernel.world.store import Store
log = Store(Path(sys.argv[1]))
print(log.search("walrus").total, flush=True)
if not (pid := os.fork()):
    print(log.search("walrus").total, end=" ", flush=True)
    os._exit(0)  # as children of `multiprocessing` end; DuckDB 1.5 aborts in any other
print(os.waitpid(pid, 0)[1])
"""


def test_no_progress_is_drawn_where_nobody_asked_for_it(tmp_path: Path) -> None:
    """DuckDB decides by whether the program is a script: a child that is none stands for a kernel."""
    store(tmp_path).append("s", *turn("s"))
    asked = "from pathlib import Path\nimport sys\nfrom stores import store\nwith store(Path(sys.argv[1])).connect() as c:\n"
    asked += "    print(c.execute(\"SELECT current_setting('enable_progress_bar')\").fetchall())"
    assert done(child(asked, tmp_path)).strip() == "[(False,)]"
