"""What is seen of work that is no turn: bars that never overflow, words that stay words, endings that are the same again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.events import Compressed
from hermes_kernel.view.sights import Bar, Looking, Shortening
from tests.laws.test_view import HOSTILE, OURS, tags


@st.composite
def maps(draw, **given_):
    of = draw(st.integers(0, 5000))
    done = draw(st.integers(0, of))
    failed, kept = draw(st.integers(0, done)), draw(st.integers(0, done))
    return Bar(of, done, failed, kept, draw(st.integers(0, 9000)), **given_)


@given(maps(), st.floats(0, 1e6))
def test_a_bar_is_never_longer_than_its_place(progress, seconds):
    html = progress.html(seconds)
    (share,) = re.findall(r"width:([\d.]+)%", html)
    assert 0 <= float(share) <= 100
    assert f'aria-valuemax="{progress.of}" aria-valuenow="{progress.done}"' in html


@given(maps(ended="done"), st.floats(0, 1e6), st.floats(0, 1e6))
def test_what_stays_of_a_map_holds_no_bar_and_no_time(progress, seconds, others):
    assert progress.html(seconds) == progress.html(others)
    assert "progressbar" not in progress.html(seconds)
    assert progress.plain().startswith("done · ")


@given(maps(), st.floats(2, 1e5))
def test_what_is_left_is_guessed_from_the_rows_that_were_asked_now(progress, seconds):
    guess = " left" in progress.html(seconds)
    assert guess == (progress.done - progress.kept >= 3 and progress.done < progress.of)


@given(HOSTILE, st.floats(0, 100))
def test_no_words_become_html(words, seconds):
    ended = Compressed((), 900, 100, note=words)
    for sight in (Bar(3, 3, ended=words, note=words), Shortening(words), Shortening(ended=ended), Looking(words)):
        html = sight.html(seconds)
        assert {tag for tag, _ in tags(html)} <= OURS
        assert not [key for _, attributes in tags(html) for key in attributes if key.startswith("on")]
        assert "\x1b" not in html + sight.plain()


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Compressed((), 900, 100, "summary"), "earlier messages were summarised; `%hermes show summary` reads"),
        (Compressed((), 900, 900, "digest", note="the model is down"), "as it was (the model is down)"),
        (Compressed((), 900, 900, "digest"), "nothing was to be gained, and the conversation is as it was"),
    ],
)
def test_a_compression_ends_in_a_line_that_says_what_came_of_it(event, said):
    sight = Shortening(ended=event)
    assert said in sight.plain()
    assert ("900 → 100 tokens" in sight.html(3.0)) == (event.after < event.before)
    assert "900" not in sight.plain()


def test_while_it_is_compressed_the_seconds_go_on():
    assert "compressing the conversation 12 s · summarising" in Shortening("summarising").html(12.4)
    assert Shortening().plain() == "the conversation was not compressed"


@pytest.mark.parametrize("sight", [Bar(5_000, 2_100), Shortening("summarising"), Looking("what is worth keeping")])
def test_what_is_read_out_does_not_tick(sight):
    before, after = (re.findall(r'role="status"[^>]*>([^<]*)', sight.html(seconds)) for seconds in (30.0, 31.0))
    assert before == after == [sight.spoken()]
    assert sight.html(30.0) != sight.html(31.0)
    assert '<div aria-hidden="true">' in sight.html(30.0)


@given(st.integers(1, 5_000))
def test_of_a_map_no_more_than_ten_steps_are_read_out(of):
    assert len({Bar(of, done).spoken() for done in range(of + 1)}) <= 11


def test_what_is_over_is_read_out_as_it_is_seen():
    for sight in (
        Bar(3, 3, ended="done"),
        Shortening(ended=Compressed((), 9, 1, "summary")),
        Looking("x", ("nothing",)),
    ):
        assert sight.spoken() == sight.plain()
