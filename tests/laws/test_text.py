"""Text that can be sent and stored anywhere, and how much of it there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.text import brief, dotted, scrub
from hermes_kernel.core.tokens import estimate


def test_tokens_are_estimated_by_script() -> None:
    assert estimate("") == 0
    assert estimate("word " * 100) in range(100, 150)
    assert estimate("汉" * 100) in range(90, 130)
    assert estimate("\ud800") > 0


@given(st.text(st.characters(), max_size=30))
def test_scrubbed_text_can_be_encoded_and_good_text_is_left_alone(text: str) -> None:
    clean = scrub(text)
    clean.encode()
    assert scrub(clean) is clean or scrub(clean) == clean


def test_a_surrogate_pair_is_joined_and_a_lone_half_replaced() -> None:
    assert scrub("\ud83d\ude00") == "😀"
    assert scrub("a\ud83d b") == "a\ufffd b"


def test_a_brief_text_is_one_line_of_its_limit() -> None:
    assert brief("a\n b", 10) == "a b"
    assert brief("a" * 20, 10) == "a" * 9 + "…"
    assert brief("abc", 0) == "…"


def test_of_parts_with_a_dot_between_those_that_say_nothing_are_left_out() -> None:
    assert dotted("", "failed", "", "1.2 s", "") == "failed · 1.2 s"
    assert dotted() == dotted("", "") == ""
