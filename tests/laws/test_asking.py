"""How a question is worded: numbers stand for choices, and what is left of the time is never said wrong."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.question import Question
from hermes_kernel.view.turn.asking import (
    answered,
    answered_html,
    asked_html,
    chosen,
    meaning_html,
    offered,
    pause,
    remaining,
    without,
    without_html,
    written,
)

TEXTS = st.text(max_size=40)
ALLOW = Question(
    "Allow it?", ("once", "no"), "no", 3600, "terminal", "command: rm -rf x", ("this call", "it is not run")
)


def test_a_question_is_written_with_its_input_its_numbered_choices_and_what_happens_without_an_answer():
    assert written(ALLOW) == (
        "Allow it?\ncommand: rm -rf x\n  1. once: this call\n  2. no: it is not run\n  Without an answer: no, in 60 min."
    )
    assert written(Question("Which?")) == "Which?"


@given(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=8, unique_by=str.casefold), st.data())
def test_the_number_of_a_choice_stands_for_it(choices, data):
    question = Question("?", tuple(choices))
    at = data.draw(st.integers(1, len(choices)))
    assert chosen(question, f" {at}\n") == choices[at - 1]


@given(TEXTS)
def test_other_words_stand_for_themselves(said):
    question = Question("?", ("Once", "no"))
    meant = chosen(question, said)
    assert meant == said.strip() or meant in question.choices
    assert chosen(question, " ONCE ") == "Once"


def test_numbers_that_no_choice_has_are_words():
    question = Question("How many?", ("few",))
    assert [chosen(question, said) for said in ("0", "2", "1" * 9000, "²", "١")] == ["0", "2", "1" * 9000, "²", "١"]


@given(TEXTS, TEXTS, TEXTS)
def test_a_choice_stays_on_one_line_whatever_is_in_it(choice, means, default):
    question = Question("?", (choice, "b"), default, 60, meanings=(means,))
    assert all(len(line.splitlines()) <= 1 for line in (*offered(question), without(question, 1)))
    assert "\x1b" not in written(question)


@given(st.floats(0.001, 700_000))
def test_what_is_left_is_rounded_up_and_said_anew_as_often_as_it_changes(left):
    words, later = remaining(left), left - pause(left)
    number, unit = words.split(" ")
    size = {"s": 1, "min": 60, "h": 3600, "days": 86_400}[unit]
    assert left <= int(number) * size < left + size
    assert 0 <= later < left
    assert remaining(later) != words
    assert remaining((later + left) / 2) == words


def test_the_last_minute_is_told_by_seconds_and_what_is_over_is_over():
    assert [remaining(left) for left in (604_800, 90_000, 3_600, 61, 60, 59.2, 0.5, 0, -3)] == [
        "7 days", "25 h", "60 min", "2 min", "60 s", "60 s", "1 s", "0 s", "0 s",
    ]  # fmt: skip


class Tags(HTMLParser):
    """What tags there are, with the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, *(name for name, _ in attrs)))


HOSTILE = st.text(st.sampled_from("<>\"'&=/ \n\x1b\u202escriptonx"), max_size=60)


@given(HOSTILE, HOSTILE)
def test_whatever_is_asked_is_words_in_tags_of_ours(bad, worse):
    question = Question(bad, (worse,), worse, 60, bad, worse)
    assert Tags(asked_html(question)).found in (
        [("div", "role", "style")], [("div", "role", "style"), ("pre", "tabindex", "role", "aria-label", "style")],
    )  # fmt: skip
    assert Tags(meaning_html(bad)).found in ([], [("span", "style")])
    assert Tags(without_html(question, 5)).found == [("span", "style")]
    assert Tags(answered_html(question, worse)).found == [("div", "class", "style"), ("b",)]
    assert len(answered(question, worse).splitlines()) <= 1


def test_what_is_no_choice_of_time_says_only_how_the_keyboard_comes_there():
    assert ">Tab goes to the buttons<" in without_html(Question("Which?"), 0)
    assert ">Without an answer: no, in 60 min · Tab goes to the buttons<" in without_html(ALLOW, 3_600)


def test_of_a_long_question_a_line_stays():
    assert len(answered(Question("why? " * 1_000), "because " * 1_000)) < 1_300
