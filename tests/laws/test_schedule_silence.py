"""When an answer asks that no one be told, and what is left of it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.core.schedule.silence import MARK, asks_silence, without_mark

MARKS = ("[SILENT]", "[silent]", "  [Silent]\t", "**[SILENT]**", "`[SILENT]`", "[SILENT].", '"[SILENT]"', "_[SILENT]_")
LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=6)


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("form", ["{}", "\n\n{}\n", "{}\nNothing new.", "Nothing new.\n\n{}", "{}\r\nwords\r\n"])
def test_the_mark_alone_on_the_first_or_last_line_asks_for_silence(mark: str, form: str):
    assert asks_silence(form.format(mark))
    assert "SILENT" not in without_mark(form.format(mark)).upper()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n",
        "SILENT",
        "[SILENT",
        "[ SILENT ]",
        "[SILENT] was not called for: the disk is full.",
        "I would answer [SILENT] if there were nothing.",
        "It says\n[SILENT]\nin the middle.",
        "```\n[SILENT]\n```",
        "- [SILENT]",
        "[NOT SILENT]",
        "[SILENT][SILENT]",
    ],
)
def test_a_word_among_others_is_no_mark(text: str):
    assert not asks_silence(text)
    assert without_mark(text) == text.strip("\n ")


@given(LINES, st.booleans())
@example([], True)
@example(["[SILENT]", "", "[SILENT]"], False)
def test_what_is_left_asks_for_nothing_and_keeps_every_other_line(lines: list[str], last: bool):
    text = "\n".join([*lines, MARK] if last else [MARK, *lines])
    assert asks_silence(text)
    rest = without_mark(text)
    assert not asks_silence(rest)
    assert without_mark(rest) == rest
    words = [line for line in "\n".join(lines).splitlines() if line.strip()]
    assert [line for line in rest.splitlines() if line.strip()] == [
        line for n, line in enumerate(words) if not _outer(words, n)
    ]


def _outer(words: list[str], n: int) -> bool:
    """Line `n` is one of the marks with which `words` begin or end."""
    before, after = words[: n + 1], words[n:]
    return all(map(asks_silence, before)) or all(map(asks_silence, after))
