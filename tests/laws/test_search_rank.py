"""Ranking: rarer, more often, in fewer words; and a search in two places finds what a search in one does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.search.finding import HITS, About, find, root, shown
from hermes_kernel.core.search.found import Found, Passage
from hermes_kernel.core.search.query import Query, Term, parse
from hermes_kernel.core.search.rank import (
    Corpus,
    Entry,
    census,
    count,
    entry,
    idf,
    matches,
    merged,
    passes,
    ranked,
    score,
    terms,
)
from hermes_kernel.core.search.words import row

VOCABULARY = ["a", "b", "c", "a b", "read_csv", "d e"]
told = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join), max_size=12)
typed = st.lists(
    st.sampled_from(["a", "b", '"a b"', "c", "d*", "read", "-c", "-b", "OR", "role:user", "zzz"]), max_size=5
).map(" ".join)


def asked(text: str) -> Query:
    return parse(text, now=0, zone=UTC)


def entries(texts: Sequence[str], session: str = "s") -> list[Entry]:
    return [entry(Passage(session, n, float(n), ("user", "tool")[n % 2], text)) for n, text in enumerate(texts)]


def places(found: Found) -> list[tuple[str, int]]:
    return [(hit.passage.session, hit.passage.n) for hit in found.hits]


@given(told, typed)
def test_what_is_found_matches_and_what_matches_is_found(texts: list[str], text: str):
    query, said = asked(text), entries(texts)
    outcome = ranked(said, query, census(said, query))
    full = {each.passage for each in said if matches(each.line, query) and passes(each, query.filters)}
    if full:
        assert {passage for _, passage in outcome.best} == full
        assert outcome.met == len(query.clauses)
    assert outcome.total == len(outcome.best)
    assert not (outcome.met and not outcome.total)


@given(told, told, typed)
def test_two_places_together_find_what_one_place_does(some: list[str], others: list[str], text: str):
    query, one, two = asked(text), entries(some, "s1"), entries(others, "s2")
    corpus = census(one, query) + census(two, query)
    assert corpus == census([*one, *two], query)
    assert merged(ranked(one, query, corpus), ranked(two, query, corpus)) == ranked([*one, *two], query, corpus)


@given(told, typed)
def test_the_better_match_comes_first_and_of_equals_the_newer(texts: list[str], text: str):
    query, said = asked(text), entries(texts)
    best = ranked(said, query, census(said, query)).best
    assert list(best) == sorted(best, key=lambda each: (-each[0], -each[1].t))
    assert all(points > 0 for points, _ in best) or not query.clauses


def test_bm25_is_what_the_books_say():
    query = asked("cat")
    said = entries(["cat", "dog bird", "cat cat fish fish"])
    corpus = census(said, query)
    assert corpus == Corpus(3, 7, {Term(("cat",)): 2})
    rare = max(math.log(1.5 / 2.5), 1e-6)
    expected = rare * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / (7 / 3)))
    assert score(said[2].line, 4, query, corpus) == pytest.approx(expected)
    assert idf(1000, 1) > idf(1000, 10) > idf(1000, 900) == 1e-6
    assert score(said[1].line, 2, query, corpus) == 0
    assert score("", 0, query, Corpus(0, 0, {})) == 0


def test_a_rare_word_weighs_more_and_a_short_message_too():
    said = entries([*["common filler"] * 20, "common rare", "common", "rare and a great many other words around it"])
    assert places(find(said, asked("rare OR common"), {"s": About("r")}, 9))[0] == ("s", 20)
    assert places(find(said, asked("rare"), {"s": About("r")}, 9)) == [("s", 20), ("s", 22)]


def test_a_phrase_is_counted_wherever_it_begins():
    line, _ = row("a a a b a b a")
    assert count(line, Term(("a", "a"))) == 2
    assert count(line, Term(("a", "b", "a"))) == 2
    assert count(line, Term(("a",))) == 5
    assert count(line, Term(("b",), prefix=True)) == 2
    assert count(row("read_csv read_json csv")[0], Term(("csv", "read"))) == 0
    assert count(row("read_csv csv")[0], Term(("csv",))) == 2


def test_a_term_asked_twice_is_one():
    assert terms(asked('a OR b a "a b"')) == (Term(("a",)), Term(("b",)), Term(("a", "b")))


def test_where_no_message_has_every_word_those_with_most_are_found_and_it_is_said():
    said = entries(["red", "red green", "green blue", "black"])
    about = {"s": About("s")}
    found = find(said, asked("red green blue"), about, 9)
    assert (sorted(places(found)), found.partly, found.total) == ([("s", 1), ("s", 2)], True, 2)
    assert find(said, asked("red green"), about, 9).partly is False
    assert find(said, asked("nothing here"), about, 9) == Found((), 0)
    assert places(find(said, asked("red blue -green"), about, 9)) == [("s", 0)]
    assert find(said, asked('"green red"'), about, 9).total == 0
    assert find(said, asked("!?"), about, 9) == Found((), 0)


def test_of_two_places_the_one_that_meets_more_of_the_query_is_heard():
    query, one, two = asked("red green"), entries(["red green"], "s1"), entries(["red"], "s2")
    corpus = census([*one, *two], query)
    more, fewer, none = (ranked(each, query, corpus) for each in (one, two, []))
    assert merged(more, fewer) == merged(fewer, more) == merged(more, none) == merged(none, more) == more
    assert merged(fewer, none) == fewer


def test_without_words_the_newest_come_first():
    found = find(entries(["a", "b", "a", "c"]), asked("-c"), {"s": About("s")}, 9)
    assert places(found) == [("s", 2), ("s", 1), ("s", 0)]
    assert not found.partly


def test_hits_are_told_by_lineage_with_what_is_known_of_the_best():
    said = [*entries(["cat"] * 9, "old"), *entries(["cat"], "new"), *entries(["cat"], "other")]
    about = {"old": About("old", "First"), "new": About("old", "Second", "n.ipynb", "m"), "other": About("other")}
    found = find(said, asked("cat"), about, 9)
    assert [(thread.root, thread.title, len(thread.hits)) for thread in found.threads] == [
        ("old", "First", HITS),
        ("other", "", 1),
    ]
    assert found.total == 11
    assert len(find(said, asked("cat"), about, 1).threads) == 1
    assert find(said, asked("cat"), about, 0).threads == ()
    (thread,) = find(entries(["cat"], "new"), asked("cat"), about, 9).threads
    assert (thread.title, thread.notebook, thread.model) == ("Second", "n.ipynb", "m")
    assert (
        shown(ranked([], asked("cat"), census([], asked("cat"))), asked("cat"), about, 9, "half of it").note
        == "half of it"
    )


def test_a_lineage_begins_with_its_oldest_and_a_loop_with_its_first():
    parents = {"c": "b", "b": "a", "x": "y", "y": "x", "z": "y", "orphan": "gone"}
    assert [root(parents, each) for each in "abc"] == ["a", "a", "a"]
    assert [root(parents, each) for each in "xyz"] == ["x", "x", "x"]
    assert root(parents, "orphan") == "gone"
    assert root({}, "") == ""


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", True),
        ("role:tool", True),
        ("role:user", False),
        ("-role:tool", False),
        ("tool:READ_file", True),
        ("tool:read", False),
        ("-tool:read_file", False),
        ("notebook:umsatze", True),
        ("notebook:other", False),
        ("notebook:other notebook:2026", True),
        ("-notebook:2026", False),
        ("model:qwen", True),
        ("model:gpt", False),
        ("-model:qwen", False),
        ("session:abc", True),
        ("session:bc", False),
        ("-session:a", False),
        ("after:1970-01-02", True),
        ("after:1970-01-03", False),
        ("before:1970-01-03", True),
        ("before:1970-01-02", False),
    ],
)
def test_a_message_passes_the_filters_or_not(text: str, fits: bool):
    said = entry(Passage("abc", 1, 86400.0, "tool", "x", "read_file"), "Umsätze 2026.ipynb", "Qwen3")
    assert passes(said, asked(text).filters) == fits
