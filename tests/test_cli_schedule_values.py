"""The words of a job's options, before they are held against what is allowed."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.scheduling.faces.reading import count, grace, names, number, parameter


def test_the_usual_grace_is_the_schedules():
    assert grace("usual") is None
    assert grace("10m") == "10m"


@pytest.mark.parametrize(
    ("text", "said"), [("1", 1), (" 12 ", 12), ("0", 0), ("-1", "-1"), ("²", "²"), ("1.0", "1.0"), ("9" * 10, "9" * 10)]
)
def test_a_number_is_read_and_what_is_none_is_left_to_be_refused_by_name(text, said):
    assert number(text) == said


@pytest.mark.parametrize("text", ["0", "-1", "1.0", "one", "", "²", "9" * 5000])
def test_so_many_rows_are_at_least_one(text):
    assert count("20") == 20
    with pytest.raises(ArgumentTypeError, match="is no whole number from 1"):
        count(text)


def test_tools_are_named_with_commas_or_none_or_all():
    assert names("a, b,a,") == ("a", "b")
    assert names("none") == ()
    assert names("all") is None
    for text in ("", " , "):
        with pytest.raises(ArgumentTypeError, match="with commas between"):
            names(text)


@pytest.mark.parametrize(
    ("text", "pair"),
    [("week=48", ("week", 48)), ("x=", ("x", "")), ("x=a=b", ("x", "a=b")), ("x=[1, 2]", ("x", [1, 2])),
     ("x=true", ("x", True)), ("x=True", ("x", "True")), ("x=NaN", ("x", "NaN")), ("x=-0.5", ("x", -0.5)),
     ('x="48"', ("x", "48")), (" x =1", ("x", 1)), ("x=1\n%%bash", ("x", "1\n%%bash")), ("x=" + "[" * 100_000, ("x", "[" * 100_000))],
)  # fmt: skip
def test_a_parameter_is_json_where_it_can_be_and_else_text(text, pair):
    assert parameter(text) == pair


@pytest.mark.parametrize("text", ["week", "=1", " =1", ""])
def test_what_is_no_parameter_is_named(text):
    with pytest.raises(ArgumentTypeError, match="is no NAME=VALUE, such as week=48"):
        parameter(text)


@given(st.text(max_size=60))
def test_no_text_is_more_than_refused_in_a_line(text):
    for read in (grace, number, count, names, parameter):
        try:
            read(text)
        except ArgumentTypeError as error:
            assert len(str(error).splitlines()) == 1
