"""The index of the database finds what a look at every message finds, whatever was folded, sealed, undone or deleted
between: held to `core.search.rank` message by message."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import Asked, Final, Kept, Observed, Opened, Outcome, Replied, Titled, Undone
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.search.found import Found
from hermes_kernel.core.search.query import Filters, Query, Term
from hermes_kernel.world.store import MemoryLog, Store
from hermes_kernel.world.store.fold import fold
from hermes_kernel.world.store.postings import Shape
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
