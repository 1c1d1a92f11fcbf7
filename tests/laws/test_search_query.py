"""A query means what a person meant by it, whatever was typed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.search.query import KEYS, MOST, MOST_UNITS, Filters, Query, QueryError, Term, parse
from hermes_kernel.core.search.rank import clauses_met, matches
from hermes_kernel.core.search.words import row

NOW = datetime(2026, 11, 30, 18, 30, tzinfo=UTC).timestamp()
BERLIN = ZoneInfo("Europe/Berlin")
PIECES = [
    '"',
    "OR",
    "-",
    "--",
    "*",
    " ",
    "a",
    "b_c",
    "Đà",
    "桂林",
    "role:",
    "role:user",
    "-tool:x",
    "after:",
    "7d",
    "2026-11-30",
    "“",
    "„",
]
PIECES += ["session:", "before:today", ":", "\n", "...", "f(x)", "\\", "'", "%", "\x00", 'model:"a b"', 'notebook:""']
typed = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=20).map("".join))


def asked(text: str, now: float = NOW) -> Query:
    return parse(text, now=now, zone=BERLIN)


def word(text: str) -> Term:
    return Term((text,))


def local(*date: int) -> float:
    return datetime(*date, tzinfo=BERLIN).timestamp()  # type: ignore[arg-type, misc]


@given(typed)
def test_whatever_is_typed_is_a_query_or_refused_in_one_line(text: str):
    try:
        query = asked(text)
    except QueryError as error:
        assert "\n" not in str(error)
        assert any(f"{key}:" in text.lower() for key in KEYS) or "too long" in str(error)
    else:
        assert all(term.units for clause in query.clauses for term in clause)
        assert all(term.units for term in query.without)


@given(st.text(st.characters(blacklist_characters='"“”„‟＂*-', blacklist_categories=["Cs"])).filter(str.strip))
def test_a_text_finds_itself(text: str):
    text = " ".join(text.replace(":", " ").split()[:20]).replace("OR", "or")
    query = asked(text)
    line, length = row(text)
    assert matches(line, query) == (length > 0 or not text)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("a b", ((word("a"),), (word("b"),))),
        ("a b a", ((word("a"),), (word("b"),))),
        ("a b OR c", ((word("a"),), (word("b"), word("c")))),
        ("a OR b OR c d", ((word("a"), word("b"), word("c")), (word("d"),))),
        ('a OR "b c"', ((word("a"), Term(("b", "c"))),)),
        ("a or b", ((word("a"),), (word("or"),), (word("b"),))),
        ('a "OR" b', ((word("a"),), (word("or"),), (word("b"),))),
        ("OR a", ((word("or"),), (word("a"),))),
        ("a OR", ((word("a"),), (word("or"),))),
        ("OR", ((word("or"),),)),
        ("a OR -b", ((word("a"),), (word("or"),))),
        ("a OR role:user", ((word("a"),), (word("or"),))),
        ("role:user OR a", ((word("or"),), (word("a"),))),
        ("a OR OR b", ((word("a"), word("or")), (word("b"),))),
        ("a ... OR b", ((word("a"), word("b")),)),
        ("--flag", ((word("flag"),),)),
        ("- a", ((word("a"),),)),
        ("a-b", ((Term(("a", "b")),),)),
        ('"unbalanced a', ((word("unbalanced"),), (word("a"),))),
        ('a"b c', ((Term(("a", "b")),), (word("c"),))),
        ("“of the”", ((Term(("of", "the")),),)),
        ("„die Daten“", ((Term(("die", "daten")),),)),
        ("pre*", ((Term(("pre",), prefix=True),),)),
        ("foo.ba*", ((Term(("foo", "ba"), prefix=True),),)),
        ('"foo ba*"', ((Term(("foo", "ba"), prefix=True),),)),
        ('"foo ba"*', ((Term(("foo", "ba"), prefix=True),),)),
        ("test_*", ((Term(("test_",), prefix=True),),)),
        ("**bold**", ((word("bold"),),)),
        ("*it*", ((word("it"),),)),
        ("f(*", ((word("f"),),)),
        ("a*b", ((Term(("a", "b")),),)),
        ("what:ever", ((Term(("what", "ever")),),)),
        ("role: user", ((word("role"),), (word("user"),))),
        ('role:"user', ((Term(("role", "user")),),)),
        ("桂林", ((Term(("桂", "林")),),)),
        ("", ()),
        (" \n", ()),
        ("*", ((),)),
        ("-> => !=", ((),)),
        ('""', ((),)),
        ('tool:""', ((),)),
        ("-...", ((),)),
    ],
)
def test_what_is_wanted(text: str, clauses: object):
    assert asked(text).clauses == clauses


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("-a", (word("a"),)),
        ('-"a b" c', (Term(("a", "b")),)),
        ("c -a.b -d*", (Term(("a", "b")), Term(("d",), prefix=True))),
        ("-a -a", (word("a"),)),
        ("c -OR d", (word("or"),)),
    ],
)
def test_what_is_not_wanted(text: str, without: object):
    assert asked(text).without == without


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("role:user", Filters(role=("user",))),
        ("ROLE:User role:tool", Filters(role=("user", "tool"))),
        ("-role:tool", Filters(no_role=("tool",))),
        ("tool:read_file -tool:Python", Filters(tool=("read_file",), no_tool=("python",))),
        ('notebook:"Umsätze 2026" -notebook:/tmp/', Filters(notebook=("umsatze 2026",), no_notebook=("/tmp/",))),
        ("model:Qwen -model:gpt", Filters(model=("qwen",), no_model=("gpt",))),
        ("session:AbC -session:d", Filters(session=("AbC",), no_session=("d",))),
        ("after:2026", Filters(after=local(2026, 1, 1))),
        ("before:2026-11", Filters(before=local(2026, 11, 1))),
        ("after:2026-7-4", Filters(after=local(2026, 7, 4))),
        ("after:2026-07-04T18:00", Filters(after=local(2026, 7, 4, 18))),
        ('after:"2026-07-04 18:00:30"', Filters(after=local(2026, 7, 4, 18, 0, 30))),
        ("after:2026-07-04t18:00:30.5z", Filters(after=datetime(2026, 7, 4, 18, 0, 30, tzinfo=UTC).timestamp())),
        (
            "before:2026-07-04T18:00-03:30",
            Filters(before=datetime(2026, 7, 4, 18, tzinfo=timezone(-timedelta(hours=3.5))).timestamp()),
        ),
        ("before:2026-07-04T18:00+0200", Filters(before=datetime(2026, 7, 4, 16, tzinfo=UTC).timestamp())),
        ("after:30m", Filters(after=NOW - 1800)),
        ("after:12h", Filters(after=NOW - 43200)),
        ("after:7d", Filters(after=NOW - 7 * 86400)),
        ("before:2w", Filters(before=NOW - 14 * 86400)),
        ("after:today", Filters(after=local(2026, 11, 30))),
        ("after:Yesterday before:today", Filters(after=local(2026, 11, 29), before=local(2026, 11, 30))),
        ("after:2026 after:2025", Filters(after=local(2025, 1, 1))),
        ("before:2026 before:2025", Filters(before=local(2026, 1, 1))),
        ("-after:2026 -before:2025", Filters(before=local(2026, 1, 1), after=local(2025, 1, 1))),
    ],
)
def test_what_a_message_must_be(text: str, filters: Filters):
    assert asked(text) == Query(filters=filters)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("role:robot", "role: is one of user, assistant, tool, title, not 'robot'"),
        ("-role:robot", "role: is one of user, assistant, tool, title, not 'robot'"),
        (
            "after:soon",
            "after: 'soon' is no time; give 2026, 2026-11, 2026-11-30, 2026-11-30T18:00, 7d, 12h, 30m, 2w, today or yesterday",
        ),
    ],
)
def test_a_wrong_value_is_refused_and_the_right_ones_are_named(text: str, line: str):
    with pytest.raises(QueryError) as refused:
        asked(text)
    assert str(refused.value) == line


@pytest.mark.parametrize(
    "value",
    ["2026-13", "2026-02-30", "0000", "2026-11-30T25:00", "2026-11-30T18:00+99:00", "7y", "1234567d", "20261", "٢٠٢٦"],
)
def test_no_moment_is_made_up(value: str):
    with pytest.raises(QueryError):
        asked(f"before:{value}")


def test_yesterday_begins_at_midnight_when_the_clocks_change():
    assert asked("after:yesterday", local(2026, 10, 26, 1)).filters.after == local(2026, 10, 25)
    assert asked("after:today", local(2026, 10, 25, 23)).filters.after == local(2026, 10, 25)


def test_a_search_has_bounds_and_says_them():
    assert len(asked(" ".join(map(str, range(MOST)))).clauses) == MOST
    for text in (" ".join(map(str, range(MOST + 1))), '"' + "a " * (MOST_UNITS + 1) + '"', "role:user " * (MOST + 1)):
        with pytest.raises(QueryError, match=f"at most {MOST} words, phrases and filters, of {MOST_UNITS} words"):
            asked(text)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), st.sampled_from("abcd"))
def test_a_word_not_wanted_is_in_no_match(said: list[str], unwanted: str):
    line, _ = row(" ".join(said))
    assert matches(line, asked(f"{said[0]} -{unwanted}")) == (unwanted not in said)
    assert clauses_met(line, asked(f"{said[0]} zzz")) == 1
    assert matches(line, asked(f"zzz OR {said[0]}"))
