"""An excerpt shows what was found, in the message's own words, on one line."""

from __future__ import annotations

import unicodedata
from datetime import UTC

from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.core.search.query import Query, QueryError, Term, parse
from hermes_kernel.core.search.rank import count, matches, terms
from hermes_kernel.core.search.snippet import Snippet, snippet, squeezed
from hermes_kernel.core.search.words import row, units

PIECES = [
    "a ",
    "b ",
    "the ",
    "read_csv",
    "fooBar ",
    "桂林",
    "山",
    "É\u0301 ",
    "\n",
    "\t",
    "  ",
    ".",
    "-",
    "\x1b[31m",
    "\u202e",
    "…",
    "long" * 20,
]
said = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
typed = st.lists(
    st.sampled_from(["a", "b", '"a b"', "the*", "read", '"read csv"', "foo*", "山", "桂林", "e", "OR"]), max_size=4
).map(" ".join)


def asked(text: str) -> Query:
    return parse(text, now=0, zone=UTC)


def bare(shown: Snippet) -> str:
    return shown.text.removeprefix("…").removesuffix("…")


@given(said, typed, st.integers(1, 90))
@example("…a…", "a", 3)
def test_an_excerpt_is_a_line_of_the_messages_own_text(text: str, query: str, width: int):
    shown = snippet(text, asked(query), width)
    whole = squeezed(unicodedata.normalize("NFC", text))
    assert bare(shown) in whole or shown.text in whole
    assert len(bare(shown)) <= width + 2
    assert shown.text.isprintable()
    assert all(piece for piece, _ in shown.pieces)


@given(said, typed)
def test_marks_are_the_words_that_were_found(text: str, query: str):
    wanted = terms(asked(query))
    shown = snippet(text, asked(query), 1 << 20)
    marks = [piece for piece, marked in shown.pieces if marked]
    assert all(any(count(row(mark)[0], term) for term in wanted) for mark in marks)
    found = {term for term in wanted if count(row(text)[0], term)}
    assert found == {term for term in wanted if any(count(row(mark)[0], term) for mark in marks)}
    names = {unit.text for unit in units(text)}
    assert all(unit.text in names for mark in marks for unit in units(mark)), "a mark cuts no word"


@given(said, typed, st.integers(90, 200))
def test_what_matches_is_marked_in_the_excerpt(text: str, query: str, width: int):
    meant = asked(query)
    marked = any(mark for _, mark in snippet(text, meant, width).pieces)
    assert marked == any(count(row(text)[0], term) for term in terms(meant))
    assert marked or not matches(row(text)[0], meant) or not meant.clauses


def test_the_stretch_with_the_most_different_words_is_shown():
    text = "red " * 50 + "and then " * 50 + "a red fox in green grass " + "and then " * 50 + "green " * 50
    shown = snippet(text, asked("red green grass"), 60)
    assert [piece for piece, marked in shown.pieces if marked] == ["red", "green", "grass"]
    assert shown.text.startswith("…")
    assert shown.text.endswith("…")
    assert "and then" in shown.text


def test_a_phrase_is_one_mark_and_a_part_marks_its_identifier():
    assert snippet("桂林山水甲天下", asked("山水")).pieces == (("桂林", False), ("山水", True), ("甲天下", False))
    assert snippet("use pd.read_csv(x)", asked('csv "pd read_csv"')).pieces == (
        ("use ", False),
        ("pd.read_csv", True),
        ("(x)", False),
    )
    assert snippet("a read_csv b", asked('"read csv"')).pieces == (("a ", False), ("read_csv", True), (" b", False))


def test_without_a_find_an_excerpt_is_the_beginning():
    assert snippet("  one\n\n two ", asked("role:user")).pieces == (("one two", False),)
    assert snippet("word " * 100, asked(""), 20).pieces == (("word word word word", False), ("…", False))
    assert snippet("", asked("a")).pieces == ()


def test_a_find_longer_than_the_excerpt_is_shown_from_its_beginning():
    phrase = Query(((Term(("w",) * 60),),))
    assert snippet("x " + "w " * 60, phrase, 20).pieces == (("…", False), ("w w w w w w w w w w", True), ("…", False))


def test_every_query_is_shown_or_refused_before():
    with_marks = 0
    for text in ("a", "a -a", "-a", "a OR b", "*"):
        try:
            with_marks += any(marked for _, marked in snippet("a b", asked(text)).pieces)
        except QueryError:
            raise AssertionError(text) from None
    assert with_marks == 3
