"""What is said of a run: bounded, and without power over whoever is told."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.scheduling.delivery.wording import GAP, bounded, message, uncalled
from tests.contracts.delivering import report

TEXTS = st.text(st.one_of(st.sampled_from("@<>!/?#&_*` \nahereveryone:."), st.characters(exclude_categories=["Cs"])))
CALLS = re.compile(r"@(?:everyone|here)|(?:^|[\s*_(<>`])@\w|<[@!#&/?a-zA-Z]")


@given(TEXTS)
@example("![a picture](https://e.example/p.png)")
@example("@everyone, <@U1> and <!here>: see @ada")
def test_no_text_calls_anybody_or_opens_a_tag_and_every_word_of_it_is_there(text: str):
    text = text.replace(GAP, "")
    safe = uncalled(text)
    assert not CALLS.search(safe.replace("<http", ""))
    assert "![" not in safe
    assert safe.replace(GAP, "") == text.replace("![", "[")
    assert uncalled(safe) == safe


@pytest.mark.parametrize(
    "text", ["me@example.com", "<https://a.example/x>", "<mailto:me@example.com>", "a < b", "5 @ 3"]
)
def test_what_calls_nobody_stays_as_it_is(text: str):
    assert uncalled(text) == text


@pytest.mark.parametrize("text", ["x@everyone", "_@channel_", "**@all**", "(@room)", "@here", "<@U1>", "<!channel>"])
def test_a_call_in_any_dress_is_a_word(text: str):
    assert GAP in uncalled(text)


@given(TEXTS, st.integers(10, 60))
def test_what_is_left_out_is_said_to_be_and_fences_are_closed(text: str, longest: int):
    said = bounded(text, longest, "the rest")
    if len(text) <= longest:
        assert said == text
    else:
        assert said.endswith("\n\n… the rest")
        assert len(said) <= 2 * longest + 20


@pytest.mark.parametrize(
    ("kept", "closed"),
    [
        ("```\nabc\nabc", "```\nabc\nabc\n```"),
        ("~~~~py\nabc\n```\nab", "~~~~py\nabc\n```\nab\n~~~~"),
        ("```\na\n```\nabc", "```\na\n```\nabc"),
        ("a `b", "a `b"),
    ],
)
def test_code_that_is_cut_is_closed_by_what_opened_it(kept: str, closed: str):
    assert bounded(kept + "cut off", len(kept), "x") == f"{closed}\n\n… x"


def test_a_name_of_any_length_makes_a_title_of_one_line():
    made = message(report(name="a\nb\x1b[0m " * 100), lambda text: text)
    assert len(made.title) <= 110
    assert made.title.startswith("a b[0m a b[0m")
    assert made.title.endswith("…: done")
    assert message(report(name=" \x07 "), lambda text: text).title == "A job: done"


def test_without_a_notebook_the_rest_was_left_out():
    assert bounded("abc" * 5_000, 10, "the rest was left out").endswith("… the rest was left out")
