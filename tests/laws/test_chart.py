"""A chart is made of its amounts and of nothing else, whatever names and amounts it is given."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.view.charts.chart import ROWS, STROKES, bars, chart_html, fewer, figures_html, said, sane

law = settings(deadline=None, max_examples=100)
SVG = "{http://www.w3.org/2000/svg}"
amounts = st.one_of(st.floats(), st.integers(-(10**30), 10**30), st.just(0))
names = st.one_of(
    st.text(max_size=90), st.sampled_from(["<script>alert(1)</script>", "</svg>", "\x1b[1m\u202e&", "a\nb"])
)
rows = st.lists(st.tuples(names, st.lists(amounts, min_size=3, max_size=3)), max_size=50)
SERIES = ("input", "cached", "output")


def lines(svg: ET.Element) -> list[tuple[float, float]]:
    return [
        (float(each.attrib["x1"].rstrip("%")), float(each.attrib["x2"].rstrip("%"))) for each in svg.iter(f"{SVG}line")
    ]


@law
@given(rows, names)
def test_a_chart_is_sound_and_small_and_made_of_our_own_elements(found: list, title: str) -> None:  # type: ignore[type-arg]
    page = chart_html(found, SERIES, title)
    assert page == chart_html(found, SERIES, title)
    assert len(page.encode()) < 30_000
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(f"<p>{page}</p>").iter()}
    assert tags <= {"p", "div", "span", "svg", "title", "g", "line", "text"}
    assert not set(page) & set("\x1b\u202e")


@law
@given(rows)
def test_bars_lie_within_the_width_one_for_each_part_that_is_something(found: list) -> None:  # type: ignore[type-arg]
    svg = ET.fromstring(bars(found, SERIES, "t"))
    drawn = lines(svg)
    assert all(0 <= left < right <= 100 for left, right in drawn)
    assert len(drawn) == sum(bool(sane(each)) for _, row in fewer(found) for each in row)
    assert svg.attrib["role"] == "img"
    assert svg.find(f"{SVG}title").text == "t"  # type: ignore[union-attr]


@law
@given(st.lists(st.tuples(names, st.lists(st.integers(0, 10**12), min_size=3, max_size=3)), min_size=1, max_size=80))
def test_the_sums_in_a_chart_add_up_to_what_it_was_given(found: list) -> None:  # type: ignore[type-arg]
    svg = ET.fromstring(bars(found, SERIES, "t"))
    sums = [each.text for each in svg.iter(f"{SVG}text") if each.attrib.get("x") == "100%"]
    assert len(sums) == min(len(found), ROWS)
    assert sum(int((each or "").replace(",", "")) for each in sums) == sum(sum(row) for _, row in found)


@law
@given(st.lists(st.tuples(names, st.lists(st.integers(0, 10**12), min_size=3, max_size=3)), min_size=1, max_size=80))
def test_the_figures_that_open_add_up_to_the_same(found: list) -> None:  # type: ignore[type-arg]
    page = ET.fromstring(figures_html(found, SERIES))
    rows_told = [[cell.text or "" for cell in row.iter("td")][1:] for row in page.iter("tr")]
    told = sum(int(cell.replace(",", "")) for row in rows_told for cell in row)
    assert told == sum(sum(row) for _, row in found)


def test_parts_stand_one_behind_the_other_and_to_scale() -> None:
    svg = ET.fromstring(bars([("a", (50, 30, 20)), ("b", (50, 0, 0))], SERIES, "t"))
    assert sorted(lines(svg)) == [(0, 50), (0, 50), (50, 80), (80, 100)]


def test_what_stands_beside_a_bar_is_its_whole_not_what_could_be_drawn() -> None:
    assert [said(each) for each in (0, 1234567, 0.0123, 10.5)] == ["0", "1,234,567", "0.0123", "10.5000"]


def test_nothing_to_compare_is_no_chart() -> None:
    assert chart_html([], SERIES, "t") == ""
    assert chart_html([("a", (0, -3, float("nan")))], SERIES, "t") == ""


def test_only_parts_that_there_are_stand_below_it() -> None:
    page = chart_html([("a", (5, 0, 2))], SERIES, "t")
    assert ("input</span>" in page, "cached</span>" in page, "output</span>" in page) == (True, False, True)


def test_where_only_its_words_are_shown_they_stand_apart_and_in_order() -> None:
    svg = ET.fromstring(bars([("last turn", (1000, 391)), ("conversation", (2500, 0))], SERIES[:2], "tokens"))
    assert "".join(svg.itertext()) == "tokens last turn 1,391 conversation 2,500"


def test_no_two_parts_are_told_apart_by_colour_alone() -> None:
    assert len({stroke[1:] for stroke in STROKES}) == len(STROKES)


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), float("-inf"), -1, 0])
def test_what_cannot_be_drawn_is_nothing(amount: float) -> None:
    assert sane(amount) == 0
