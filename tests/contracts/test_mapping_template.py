"""What a template makes of a row, and what it refuses."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.errors import HermesError
from hermes_kernel.mapping.prompts import Prompts
from hermes_kernel.mapping.template import Template

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def prompts(template: str, rows: Any) -> list[str]:
    made = Prompts(Template(template), rows, lambda text: text)
    try:
        return list(made)
    finally:
        made.close()


def digest(template: str, rows: Any) -> str:
    made = Prompts(Template(template), rows, lambda text: text)
    made.close()
    return made.digest


@given(texts, texts)
def test_what_a_cell_says_is_put_in_as_it_is_and_never_read_again(one: str, two: str) -> None:
    made = prompts("<$one|$two|$$one|{one}|${two}>", [{"one": one, "two": two}])
    assert made == [f"<{one}|{two}|$one|{{one}}|{two}>"]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.one_of(texts, st.integers(), st.none())), max_size=8))
def test_however_rows_come_they_make_the_same_prompts_and_the_same_digest(rows: list[dict[str, Any]]) -> None:
    rows = [{"a": 0, "b": 0, **row} for row in rows]
    assert prompts("$a and $b", rows) == prompts("$a and $b", iter(rows))
    assert digest("$a and $b", rows) == digest("$a and $b", (row for row in rows))


@given(st.lists(texts, min_size=2, max_size=2, unique=True))
def test_other_cells_have_another_digest_and_those_not_asked_about_have_not(cells: list[str]) -> None:
    one, two = ([{"a": cell, "b": 1}] for cell in cells)
    assert digest("$a", one) != digest("$a", two)
    assert digest("$b", one) == digest("$b", two)


@given(st.lists(texts, min_size=2, max_size=2))
def test_a_border_between_cells_that_moves_is_another_row(cells: list[str]) -> None:
    one, two = cells
    moved = [{"a": one + two, "b": ""}]
    assert (digest("$a$b", [{"a": one, "b": two}]) == digest("$a$b", moved)) == (not two)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (None, ""),
        (float("nan"), ""),
        (pd.NaT, ""),
        (pd.NA, ""),
        (1.5, "1.5"),
        (True, "True"),
        (Decimal("1.10"), "1.10"),
        (dt.date(2026, 5, 4), "2026-05-04"),
        (pd.Timestamp("2026-05-04 10:00"), "2026-05-04T10:00:00"),
        ({"a": [1, {"b": "ü"}]}, '{"a": [1, {"b": "ü"}]}'),
        ([], "[]"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        ("half \ud800", "half �"),
    ],
)
def test_a_cell_is_said_as_a_person_would_write_it_and_a_missing_one_not_at_all(cell: Any, said: str) -> None:
    assert prompts("[$x]", [{"x": cell}]) == [f"[{said}]"]


def test_the_whole_row_is_json_unless_a_column_has_that_name() -> None:
    assert prompts("$row", [{"a": 1, "b": None}]) == ['{"a": 1, "b": null}']
    assert prompts("$row", [{"row": "mine"}]) == ["mine"]
    assert prompts("$row!", ["just a value"]) == ['{"value": "just a value"}!']


def test_a_row_with_missing_cells_is_json_that_any_reader_takes() -> None:
    frame = pd.DataFrame({"a": [float("nan")], "b": [pd.NaT], "c": [pd.NA], "d": [[1.5, float("nan")]]})
    assert prompts("$row", frame) == ['{"a": null, "b": null, "c": null, "d": [1.5, null]}']
    assert prompts("$row", [{"a": float("inf"), "b": -np.inf}]) == ['{"a": "inf", "b": "-inf"}']
    itself: list[Any] = [1]
    itself.append(itself)
    assert prompts("$x", [{"x": itself}]) == ["[1, [...]]"]


def test_an_unknown_column_is_refused_by_name_with_those_there_are() -> None:
    with pytest.raises(HermesError, match=r"no column \$nmae. Did you mean \$name\? The columns are: name, city\."):
        prompts("Who is $nmae?", [{"name": "Ada", "city": "London"}])
    with pytest.raises(HermesError, match=r"\$x\. The columns are: none"):
        prompts("$x", pd.DataFrame(index=[1, 2]))
    with pytest.raises(HermesError, match="The columns are: a"):
        prompts("$x", pd.DataFrame({"a": []}))


def test_a_column_that_only_some_rows_have_is_missing_in_the_others() -> None:
    assert prompts("[$b]", [{"a": 1}, {"a": 1, "b": 2}]) == ["[]", "[2]"]


def test_frames_series_values_and_streams_are_rows() -> None:
    frame = pd.DataFrame({"a": [1, 2], "my col": ["x", "y"], 7: [0, 0]}, index=["k", "k"])
    assert prompts("$a ${my col} ${7}", frame) == ["1 x 0", "2 y 0"]
    assert prompts("$value", frame["a"]) == ["1", "2"]
    assert prompts("$value", range(2)) == ["0", "1"]
    assert prompts("same", pd.DataFrame(index=[3, 4])) == ["same", "same"]
    assert prompts("$value", [None, 1]) == ["", "1"]


class Places(pd.DataFrame):
    """A frame as GeoPandas makes it: of a kind of its own."""


class Points(pd.Series):  # type: ignore[type-arg]
    """A column of one."""


def test_frames_and_series_of_a_kind_of_their_own_are_rows_too() -> None:
    places = Places({"city": ["Bern", "Basel"], "people": [1, 2]}, index=["k", "l"])
    assert prompts("$city $people", places) == ["Bern 1", "Basel 2"]
    assert prompts("$value", Points(["Bern", "Basel"])) == ["Bern", "Basel"]


@pytest.mark.parametrize("rows", ["text", b"bytes", {"a": [1]}, 7, None])
def test_what_holds_no_rows_is_refused(rows: Any) -> None:
    with pytest.raises(HermesError, match="Rows cannot be a .*: give a DataFrame"):
        prompts("x", rows)


def test_rows_of_two_kinds_and_columns_of_one_name_are_refused() -> None:
    with pytest.raises(HermesError, match="Row 1 is a int"):
        prompts("x", [{"a": 1}, 2])
    with pytest.raises(HermesError, match="Two columns are called a"):
        prompts("$a", pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("template", ["", "  \n", None, 7])
def test_an_empty_template_is_refused(template: Any) -> None:
    with pytest.raises(HermesError, match="The template is empty"):
        Template(template)


def test_a_cell_that_cannot_be_read_is_named_and_a_megabyte_goes_whole() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    with pytest.raises(HermesError, match="Row 1 cannot be read: RuntimeError: no words"):
        prompts("$x", [{"x": 1}, {"x": Broken()}])
    itself: list[Any] = []
    itself.append(itself)
    assert prompts("$x", [{"x": itself}]) == ["[[...]]"]
    assert prompts("$x", [{"x": "m" * 1_000_000}]) == ["m" * 1_000_000]
    with pytest.raises(HermesError, match=r"The prompt of row 0 has 20,000,001 characters"):
        prompts("$x", [{"x": "m" * 20_000_001}])


def test_many_prompts_lie_in_a_file_and_are_read_as_often_as_one_likes(tmp_path: Path) -> None:
    made = Prompts(Template("$x"), ({"x": "y" * 100_000 + str(n)} for n in range(100)), lambda text: text)
    assert [len(each) for each in made] == [len(each) for each in made]
    assert len(made) == 100
    made.close()
