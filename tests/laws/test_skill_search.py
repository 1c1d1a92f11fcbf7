"""Skills found by words: whatever has one, the best first, in an order that does not depend on theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.skill_search import Text, found, stems

TEXTS = [
    Text("plotting-well", "Draw a chart that can be read.", ("charts",), "Axes need units.\nSave the plot."),
    Text(
        "cleaning-a-table", "Make a messy table fit for analysis.", (), "Trim names. Plot nothing. Numbers as numbers."
    ),
    Text("profiling-slow-code", "Find out why code is slow.", (), "Use cProfile."),
    Text("überblick", "Ein Überblick über Daten.", (), "日本語の表を読む"),
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("plots", ("plotting-well", "cleaning-a-table")),
        ("why is my code slow?", ("profiling-slow-code",)),
        ("CHARTS", ("plotting-well",)),
        ("profile", ("profiling-slow-code",)),
        ("ueberblick uberblick", ("überblick",)),
        ("表", ("überblick",)),
        ("lot", ()),
        ("nothing-here zzz", ("cleaning-a-table",)),
        ("", ()),
        ("!?", ()),
    ],
)
def test_words_find_skills_the_best_first(query, names):
    assert found(query, TEXTS)[: len(names) or 1] == names


def test_a_word_within_a_word_is_not_found():
    assert found("ode", [Text("a", "code ode-like", (), "")]) == ("a",)
    assert found("ode", [Text("a", "code", (), "xode")]) == ()


def test_endings_are_left_out_where_enough_is_left():
    assert stems("plotting plots plotted charts tables is read_csv") == (
        "plott", "plot", "chart", "tabl", "is", "read", "csv",
    )  # fmt: skip


@given(st.lists(st.sampled_from(TEXTS), unique=True), st.text(max_size=30))
def test_the_order_they_come_in_makes_no_difference(texts, query):
    assert found(query, texts) == found(query, list(reversed(texts)))
