"""Finds and conversations as a person sees them, as laws: other people's words stay words, and every place is told."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.safe import CONTROL, NO_MATH
from hermes_kernel.core.search.found import ROLES, Found, Hit, Passage, Snippet, Thread
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.kept.finds import finds_html, finds_text, marked, short, summary, tally
from hermes_kernel.view.kept.reading import (
    BETWEEN,
    ENDS,
    GLANCE,
    MOST,
    NEAR,
    Conversation,
    Relative,
    told_html,
    told_text,
    turns,
)

HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</mark></td></table><iframe>",
        "</pre></details><style>*{display:none}</style>",
        "\x1b[31mred\x1b[0m\x9b2J",
        "\u202egnp.exe",
        "a\r\nb\nc\u2028d",
        "**not a find**",
        "&lt;b&gt; &amp; '\"",
    ]
)
TEXTS = st.one_of(st.text(st.characters(blacklist_categories=["Cs"]), max_size=60), HOSTILE)
SESSIONS = st.one_of(st.sampled_from(["a" * 32, "0123456789abcdef" * 2, "20260101_120000_ab12"]), HOSTILE)
PASSAGES = st.builds(
    Passage,
    SESSIONS,
    st.integers(0, 10**6),
    st.floats(0, 4e9),
    st.sampled_from(ROLES),
    TEXTS,
    st.one_of(st.just(""), TEXTS),
)
SNIPPETS = st.builds(Snippet, st.lists(st.tuples(TEXTS, st.booleans()), max_size=4).map(tuple))
HITS = st.builds(Hit, PASSAGES, st.floats(0, 50), SNIPPETS)
THREADS = st.builds(Thread, SESSIONS, TEXTS, TEXTS, TEXTS, st.lists(HITS, min_size=1, max_size=4).map(tuple))
FOUND = st.builds(Found, st.lists(THREADS, max_size=3).map(tuple), st.integers(0, 10**6), st.booleans(), TEXTS)
RELATIVES = st.builds(Relative, SESSIONS, TEXTS)


def placed(found: list[Passage]) -> tuple[Passage, ...]:
    """As a store gives them: each at a place of its own, in order."""
    return tuple(sorted({passage.n: passage for passage in found}.values(), key=lambda passage: passage.n))


CONVERSATIONS = st.builds(
    Conversation, SESSIONS, TEXTS, TEXTS, TEXTS, st.floats(0, 4e9), st.lists(PASSAGES, max_size=8).map(placed),
    st.one_of(st.none(), RELATIVES), st.lists(RELATIVES, max_size=3).map(tuple),
)  # fmt: skip
UNHURRIED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
OURS = {"table", "tbody", "tr", "td", "div", "b", "code", "mark", "small", "pre", "details", "summary"}


class Seen(HTMLParser):
    """The tags, attributes and words that a browser sees."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.marked: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._open.append(tag)
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, "tags are closed in order"

    def handle_data(self, data):
        self.words.append(data)
        if "mark" in self._open:
            self.marked[-1] += data


def line(text: str) -> str:
    return re.sub(r"\s+", " ", CONTROL.sub("", text))


@UNHURRIED
@given(FOUND)
def test_no_word_of_a_find_becomes_html(found: Found):
    seen = Seen(finds_html(found, "%hermes"))
    assert seen.tags <= OURS
    assert seen.attributes <= {"class", "style"}


@UNHURRIED
@given(FOUND)
def test_what_was_found_is_marked_and_nothing_else(found: Found):
    seen = Seen(finds_html(found, "%hermes"))
    assert seen.marked == [line(text) for hit in found.hits for text, mark in hit.snippet.pieces if mark]


@UNHURRIED
@given(FOUND)
def test_a_find_is_below_its_place_so_that_it_is_seen_in_a_narrow_window(found: Found):
    html = finds_html(found, "%hermes")
    assert not Seen(html).tags & {"table", "pre"}  # which scroll sideways
    assert re.findall(r"<div><small>\[(\d+)\] ", html) == [str(hit.passage.n) for hit in found.hits]


@UNHURRIED
@given(FOUND)
def test_each_find_is_told_in_two_lines_with_its_place(found: Found):
    lines = finds_text(found, "%hermes").split("\n")
    assert not any(CONTROL.search(each) for each in lines)
    told = [
        (each, lines[at + 1]) for at, each in enumerate(lines) if re.match(r"  [ \d]{5}\d* +\d{4,}-\d\d-\d\d ", each)
    ]
    for hit, (head, body) in zip(found.hits, told, strict=True):
        assert head.split()[0] == str(hit.passage.n)
        assert hit.passage.role in head
        assert body.strip() == marked(hit.snippet).strip()


@UNHURRIED
@given(FOUND)
def test_finds_are_told_the_same_way_each_time_and_say_how_to_read_on(found: Found):
    assert finds_text(found, "%hermes") == finds_text(found, "%hermes")
    assert ("`hermes-kernel show ID PLACE`" in finds_text(found, "hermes-kernel")) is bool(found.threads)


def test_where_more_was_found_than_is_shown_it_is_said():
    hit = Hit(Passage("s", 1, 0.0, "user", "ducks"), 1.0, Snippet((("ducks", True),)))
    thread = Thread("s", "Ducks", "", "", (hit,))
    assert "\n8 messages found, 1 of them shown. Read" in finds_text(Found((thread,), 8), "%hermes")
    assert "\n1 message found. Read" in finds_text(Found((thread,), 1), "%hermes")


def test_nothing_found_is_said_in_one_line():
    assert finds_text(Found((), 0), "%hermes") == "Nothing was found."
    assert finds_html(Found((), 0, note="One journal is not readable."), "%hermes") == (
        f'<div class="{NO_MATH}">Nothing was found. One journal is not readable.</div>'
    )


@UNHURRIED
@given(CONVERSATIONS, st.booleans())
def test_no_word_of_a_conversation_becomes_html(told: Conversation, folded: bool):
    seen = Seen(told_html(told, folded=folded))
    assert seen.tags <= OURS
    assert seen.attributes <= {"class", "style", "open"}


@UNHURRIED
@given(CONVERSATIONS)
def test_every_message_is_told_with_its_place_and_no_control_character(told: Conversation):
    text = told_text(told)
    assert not CONTROL.search(text)
    assert re.findall(r"^\[(\d+)\] ", text, re.MULTILINE) == [str(passage.n) for passage in told.passages]


@UNHURRIED
@given(CONVERSATIONS, st.integers(0, 10**6))
def test_around_a_place_are_the_nearest_messages_in_order(told: Conversation, place: int):
    near = told.near(place).passages
    assert len(near) == min(len(told.passages), 2 * NEAR + 1)
    assert list(near) == sorted(near, key=lambda passage: passage.n)
    left = [abs(passage.n - place) for passage in told.passages if passage not in near]
    assert not left or max(abs(passage.n - place) for passage in near) <= min(left)


@UNHURRIED
@given(CONVERSATIONS)
def test_turns_are_numbered_as_prompts_stand(told: Conversation):
    prompts = [passage for passage in told.passages if passage.role == "user"]
    found = turns(told.passages)
    assert [(each.number, each.place) for each in found] == [(n, each.n) for n, each in enumerate(prompts, 1)]
    results = sum(p.role == "tool" for p in told.passages if prompts and p.n > prompts[0].n)
    assert sum(each.results for each in found) == results


def test_long_results_are_folded_and_long_conversations_end_with_how_to_read_the_rest():
    passages = tuple(Passage("s", n, 0.0, "tool", "line\n" * 50, "python") for n in range(MOST + 7))
    text = told_text(Conversation("s", "t", "", "", 0.0, passages))
    assert text.count("[… 249 characters in all]") == MOST
    assert "and 7 more messages" in text
    assert "line\n    line\n    line\n    line" in told_text(
        Conversation("s", "t", "", "", 0.0, passages[:1]), folded=False
    )


def test_relatives_are_named_above_and_below():
    told = Conversation(
        "b" * 32, "A copy", "a.ipynb", "m", 0.0, (), Relative("a" * 32, "First"), (Relative("c" * 32, ""),)
    )
    text = told_text(told)
    assert "branched from aaaaaaaaaaaa (First)" in text
    assert "branches: cccccccccccc" in text


@UNHURRIED
@given(st.text(max_size=40))
def test_only_ids_of_ours_are_shortened(session: str):
    assert short(session) == (session[:12] if re.fullmatch(r"[0-9a-f]{32}", session) else line(session))
    assert short("ab" * 16) == "ab" * 6


@UNHURRIED
@given(st.lists(st.tuples(TEXTS, st.one_of(st.none(), st.booleans(), st.integers(), TEXTS)), max_size=5))
def test_each_row_of_a_table_is_one_line(rows: list[tuple[str, object]]):
    lines = aligned(("text", "value"), rows)
    assert len(lines) == 1 + len(rows)
    assert not any(CONTROL.search(each) or "\n" in each for each in lines)
    assert len(aligned(("", ""), rows)) == len(rows)


@UNHURRIED
@given(CONVERSATIONS)
def test_in_brief_is_how_it_began_and_how_it_ended_and_says_what_is_between(told):
    brief = told.in_brief().passages
    said = [passage.n for passage in brief if passage.role != BETWEEN]
    places = [passage.n for passage in told.passages]
    assert said == (places if len(places) <= 2 * ENDS else places[:ENDS] + places[-ENDS:])
    assert [passage.text for passage in brief if passage.role == BETWEEN] == (
        []
        if len(places) <= 2 * ENDS
        else [f"{len(places) - 2 * ENDS} message{'s' if len(places) > 2 * ENDS + 1 else ''}"]
    )
    assert all(len(passage.text) <= GLANCE + 2 for passage in brief)


@UNHURRIED
@given(FOUND)
def test_what_is_typed_next_is_told_only_where_there_is_something_to_read(found):
    assert summary(found, "%hermes").startswith(tally(found))
    assert ("show ID" in summary(found, "%hermes")) == bool(found.threads)
    assert not CONTROL.search(tally(found))
