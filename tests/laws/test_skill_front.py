"""The head of a SKILL.md: read as YAML has it where a skill needs it, and never more than it is."""

from __future__ import annotations

import pytest
import strictyaml
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.skill_front import (
    DESCRIPTION,
    LARGEST,
    Front,
    Refused,
    Unread,
    first_line,
    forbidden,
    front,
    parted,
)

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e"), max_size=40)


def head(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "", "# Body", ""])


def described(value: str) -> str:
    return front(head("name: plots", f"description: {value}")).description


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Draw charts", "Draw charts"),
        ("Draw charts  # well", "Draw charts"),
        ("Use when: a chart is asked for", "Use when: a chart is asked for"),
        ("one\n  two\n\n  three # four", "one two three"),
        ("\n  on the next line", "on the next line"),
        (">-\n  Folded: yes,\n  *bold* and\n\n  more", "Folded: yes, *bold* and more"),
        ("|\n  As it stands", "As it stands"),
        ("|2- # a comment\n  As it stands", "As it stands"),
        ("'It''s # quoted'", "It's # quoted"),
        ("'over\n  lines'  # said", "over lines"),
        ('"a \\"b\\" \\\\ \\t\\u00e9\\x41\\U0001F600"', 'a "b" \\ éA😀'),
        ('"over\n  lines \\\n  on"', "over lines on"),
        ('"\\ud800 \\UFFFFFFFF"', "\ufffd \ufffd"),
        ("", ""),
        ("~", ""),
        ("null", ""),
        ("'- & * !'", "- & * !"),
    ],
)
def test_a_description_is_read_in_every_way_yaml_writes_a_text(written, read):
    assert described(written) == read


@pytest.mark.parametrize(
    "written", ["[a, b]", "{a: b}", "\n  - a\n  - b", "\n  a: b", '"open', "'open", '"odd \\q"', '"a" b', "'a' b"]
)
def test_what_is_no_text_is_left_to_a_full_reader(written):
    with pytest.raises(Unread):
        described(written)


@pytest.mark.parametrize("lines", [["name: a", "name: b"], ["no key"], ["name: a", "%YAML 1.2"]])
def test_a_head_that_is_no_mapping_is_left_to_a_full_reader(lines):
    with pytest.raises(Unread):
        front(head(*lines))


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["a: &x [1]", "b: *x"], "line 2 of its head has an anchor"),
        (["name: *x"], "line 2 of its head has an alias"),
        (["name: x", "a:", "  - b: 1", "    c: &d e"], "line 5 of its head has an anchor"),
        (["a: [", "  &x 1,", "  *x ]"], "line 3 of its head has an anchor"),
        (["a: [1, *x]"], "has an alias"),
        (["a: {<<: *x}"], "has a merged key"),
        (["<<: *x"], "has a merged key"),
        (["name: !!python/object:os.system x"], "has a tag"),
        (["? a", ": b"], "has a key that is no word"),
        (["- &a b"], "has an anchor"),
        (["lol: &lol", "  - *lol"], "has an anchor"),
    ],
)
def test_what_can_grow_when_it_is_read_is_refused_by_name(lines, what):
    with pytest.raises(Refused, match=what):
        front(head(*lines))


@pytest.mark.parametrize(
    "lines",
    [
        ["description: |", "  *bold* and &c", "  !important"],
        ["description: text", "  *goes on*"],
        ["description: 'quoted", "  *goes on*'"],
        ["metadata:", "  note: >", "    *bold*", "  other: x"],
        ["description: a & b * c!", "# &comment"],
        ["tags: [a, b & c, 'd'", "  , e]", "name: x"],
        ["license: MIT", "", "x: <b>"],
    ],
)
def test_signs_within_a_text_are_text(lines):
    forbidden(lines)


def test_tags_are_read_in_either_form_wherever_they_stand():
    assert front(head('tags: [charts, "data sets"]')).tags == ("charts", "data sets")
    assert front(head("tags: charts, plots # all")).tags == ("charts", "plots")
    nested = head("metadata:", "  hermes:", "    tags:", "      - charts", "      - 'plots' # yes", "    related: x")
    assert front(nested).tags == ("charts", "plots")
    assert front(head("tags:")).tags == ()
    assert front(head("tags:", "- a")).tags == ("a",)


def test_the_body_is_what_stands_below_the_head():
    assert front("---\nname: a\n---\nBody\n---\nmore") == Front("a", "", (), "Body\n---\nmore")
    assert front("---\n---\nBody") == Front("", "", (), "Body")
    assert front("\ufeff---\r\nname: a\r\n...\r\nBody") == Front("a", "", (), "Body")
    assert front("---\n# only a comment\nname: a\n---") == Front("a", "", (), "")
    assert front("---\n  odd\nname: a\n---\n") == Front("a", "", (), "")


@pytest.mark.parametrize("text", ["", "Answer in rhymes.", "----\nname: a\n---\n", "--- x\n"])
def test_without_a_head_all_is_body(text):
    assert front(text) == Front("", "", (), text)


def test_a_head_without_an_end_and_a_huge_one_are_refused():
    with pytest.raises(Refused, match="no line --- ends its head"):
        front("---\nname: a")
    with pytest.raises(Refused, match="more than 20,000 characters"):
        front("---\nx: " + "a" * LARGEST + "\n---\n")


def test_a_long_description_is_cut():
    assert described("x" * 5_000) == "x" * DESCRIPTION


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("", ""),
        ("\n# Head\n\nSay  it\nmore", "Say it"),
        ("# Head only\n", "Head only"),
        ("```\n```", "```"),
        ("#\n\n", ""),
    ],
)
def test_the_first_line_of_prose_stands_for_a_missing_description(body, line):
    assert first_line(body) == line


@given(st.lists(LINES, max_size=12))
def test_no_text_breaks_the_reader(lines):
    text = "\n".join(["---", *lines, "---", "body"])
    try:
        read = front(text)
    except (Refused, Unread):
        return
    assert "\n" not in read.name + read.description
    assert text.endswith(read.body)


@given(st.text(st.sampled_from("abc -:#'\"[{&*!>|\\,?%@`é\n"), max_size=30))
def test_whatever_both_readers_understand_they_read_alike(value):
    lines = ["name: x", f"description: {value}"]
    try:
        theirs = strictyaml.load("\n".join(lines)).data
    except Exception:
        return
    said = theirs.get("description") if isinstance(theirs, dict) else None
    if not isinstance(said, str) or list(theirs) != ["name", "description"]:
        return
    try:
        ours = front(head(*lines)).description
    except (Refused, Unread):
        return
    assert ours == " ".join(said.split())


@given(st.text(max_size=200))
def test_a_head_and_what_is_below_are_all_there_is(text):
    try:
        begun, below = parted(text)
    except Refused:
        return
    assert len(begun) + len(below) <= len(text)
