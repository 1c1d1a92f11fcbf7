"""No seam: what a person sees after a retry is the reply, told once, whatever was shown before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import Retracted, TextDelta
from hermes_kernel.core.seam import Seam

law = settings(deadline=None)
pieces = st.lists(st.text("ab", min_size=1, max_size=4), max_size=8)


def screen(shown, events):
    """What a person sees."""
    for event in events:
        shown = "" if isinstance(event, Retracted) else shown + event.text
    return shown


def run(shown, parts):
    seam = Seam(shown)
    events = [event for part in parts for event in seam.feed(part)]
    return seam, events


@law
@given(st.text("ab", max_size=12), pieces)
def test_in_the_end_the_screen_shows_the_reply(shown, parts):
    seam, events = run(shown, parts)
    events += seam.close()
    assert screen(shown, events) == "".join(parts) == seam.visible


@law
@given(st.text("ab", max_size=12), pieces)
def test_at_every_moment_visible_is_what_the_screen_shows(shown, parts):
    seam = Seam(shown)
    seen = shown
    for part in parts:
        seen = screen(seen, seam.feed(part))
        assert seam.visible == seen


@law
@given(pieces, pieces)
def test_what_is_repeated_is_not_told_again_and_nothing_is_taken_back(before, after):
    shown = "".join(before)
    seam, events = run(shown, [*before, *after])
    events += seam.close()
    assert Retracted() not in events
    assert screen("", events) == "".join(after)


@law
@given(st.text("ab", max_size=12), pieces)
def test_it_is_taken_back_at_most_once_and_nothing_is_empty(shown, parts):
    seam, events = run(shown, parts)
    events += seam.close()
    assert events.count(Retracted()) <= 1
    assert TextDelta("") not in events


def test_a_different_answer_takes_the_shown_one_back_first():
    assert Seam("The cat").feed("The dog") == [Retracted(), TextDelta("The dog")]


def test_a_shorter_answer_takes_the_shown_one_back():
    seam, events = run("The cat sat", ["The cat"])
    assert events == []
    assert seam.close() == [Retracted(), TextDelta("The cat")]


def test_an_attempt_that_fails_early_leaves_what_was_shown():
    seam, _ = run("The cat sat", ["The cat"])
    assert seam.visible == "The cat sat"
