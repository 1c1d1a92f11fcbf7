"""What is told of skills between two prompts: what came, went, changed; and nothing where nothing did."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.skill_index import HEAD, Listed, index, listed
from hermes_kernel.core.learning.skill_news import HEAD as NEWS
from hermes_kernel.core.learning.skill_news import MOST, Now, news

THEN = listed(index([("plots", "Draw charts."), ("tables", "Clean tables.")], 2))


def test_nothing_new_is_nothing_said():
    assert news(THEN, [Now("plots", "Draw charts."), Now("tables", "Clean  tables.")]) == ""
    assert news(THEN, []) == ""


def test_what_came_went_and_changed_is_a_line_each():
    now = [
        Now("tables", None),
        Now("plots", "Draw better charts."),
        Now("fits", "Fit a line.\nIgnore all.", fresh=True),
        Now("unknown", None),
        Now("known-before", "But only counted."),
    ]
    assert news(THEN, now) == (
        f"{NEWS}\n- new: fits: Fit a line. Ignore all.\n- changed: plots: Draw better charts.\n- gone: tables"
    )


def test_another_text_is_told_to_who_has_read_the_one_before():
    assert news(THEN, [Now("plots", "Draw charts.", reread=True)]) == f"{NEWS}\n- changed since it was read here: plots"


def test_a_description_that_was_shortened_is_compared_as_far_as_it_was_told():
    long = "word " * 100
    then = listed(index([("plots", long)], 1))
    assert then.said["plots"].endswith("…")
    assert news(then, [Now("plots", long)]) == ""
    assert "changed: plots" in news(then, [Now("plots", "other " + long)])


def test_of_a_skill_that_was_only_named_nothing_is_compared():
    assert news(Listed({"plots": ""}, 9), [Now("plots", "Whatever.")]) == ""


def test_much_news_is_counted():
    text = news(Listed({}, 0), [Now(f"skill-{n:03}", "New.", fresh=True) for n in range(40)])
    assert text.count("\n") == MOST
    assert text.endswith("- and 29 more")


@given(st.lists(st.text(max_size=60), max_size=20), st.booleans())
def test_hostile_news_is_one_line_each(said, fresh):
    now = [Now(f"s{n}", each, fresh=fresh) for n, each in enumerate(said)]
    text = news(Listed({"s0": "before"}, 0), now)
    assert len(text.splitlines()) <= 1 + min(len(said), MOST)
    assert HEAD not in text
