"""Finding the place an edit means. Pure: texts in, text out. Exact first, then the ways in which models misquote, each
of which must still point to one place only."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hermes_kernel.core.text import brief

COMPARED = 20_000  # lines looked at for the nearest ones
TYPOGRAPHY = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u00a0": " ",
        "\u200b": None,
    }
)


class NoPlace(ValueError):
    """The text to replace was not found, or found more than once. The message says what is near, or where."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text after an edit. ``how`` names the leniency that was needed, empty for an exact match."""

    text: str
    count: int
    how: str = ""


def edited(text: str, old: str, new: str, *, every: bool = False) -> Edit:
    """`text` with `old` replaced by `new`: its one occurrence, or with ``every`` all of them.

    Raises:
        NoPlace: there is no such place, or more than one.
    """
    count = text.count(old)
    if count and (every or count == 1):
        return Edit(text.replace(old, new), count)
    if count > 1:
        at = ", ".join(str(line) for line in _lines_of(text, old))
        raise NoPlace(f"the text occurs {count} times (lines {at}). Give more of its surroundings, or set all=true.")
    for leniency in LENIENCIES:
        edit = _by_lines(text, old, new, leniency, every=every)
        if edit:
            return edit
    if "\\n" in old and "\n" not in old:
        return edited(text, _unescaped(old), _unescaped(new), every=every)
    raise NoPlace(f"the text was not found. {nearest(text, old)}")


def nearest(text: str, old: str) -> str:
    """The lines that come closest to the first line of `old`, with their numbers."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    lines = [line.strip() for line in text.splitlines()[:COMPARED]]
    near = difflib.get_close_matches(wanted[:400], {line[:400] for line in lines if line}, n=3, cutoff=0.6)
    if not near:
        return "No line of the file is like its first one; read the file again."
    shown = [
        f"{lines.index(next(line for line in lines if line[:400] == found)) + 1}: {brief(found, 160)}" for found in near
    ]
    return "The nearest lines are:\n" + "\n".join(shown)


def _by_lines(text: str, old: str, new: str, leniency: Leniency, *, every: bool) -> Edit | None:
    how, alike = leniency
    lines, wanted = text.splitlines(keepends=True), [alike(line) for line in old.splitlines()]
    while wanted and not wanted[-1]:
        wanted.pop()
    if not any(wanted):
        return None
    places = list(_places([alike(line) for line in lines], wanted))
    if not places:
        return None
    if len(places) > 1 and not every:
        at = ", ".join(str(place + 1) for place in places[:10])
        raise NoPlace(
            f"nothing matches exactly, and {len(places)} places match but for {how} (lines {at}). Quote it exactly."
        )
    for place in reversed(places):
        there = lines[place : place + len(wanted)]
        put = _shifted(new, old, there) if alike is _bare else new
        ending = "\n" if there[-1].endswith("\n") and put and not put.endswith("\n") else ""
        lines[place : place + len(wanted)] = [put + ending]
    return Edit("".join(lines), len(places), how)


def _places(lines: list[str], wanted: list[str]) -> Iterator[int]:
    """The lines at which `wanted` begins. Sought as text, which takes no longer where all lines are alike."""
    whole, passage = "\n".join(["", *lines, ""]), "\n".join(["", *wanted, ""])
    at = line = 0
    while (found := whole.find(passage, at)) >= 0:
        line += whole.count("\n", at, found)
        yield line
        line += len(wanted)
        at = found + len(passage) - 1


def _plain(line: str) -> str:
    return line.translate(TYPOGRAPHY).rstrip()


def _bare(line: str) -> str:
    return " ".join(line.translate(TYPOGRAPHY).split())


class Leniency(NamedTuple):
    """A way in which lines may differ and still be meant: its name, and what remains of a line without it."""

    how: str
    alike: Callable[[str], str]


LENIENCIES = (
    Leniency("spaces at line ends", str.rstrip),
    Leniency("typography", _plain),
    Leniency("indentation", _bare),
)


def _shifted(new: str, old: str, there: list[str]) -> str:
    """`new` moved from the indentation that `old` had to the one that stands in the file."""
    quoted = next((_indent(line) for line in old.splitlines() if line.strip()), "")
    standing = next((_indent(line) for line in there if line.strip()), "")
    moved = []
    for line in new.splitlines(keepends=True):
        inner = line.removeprefix(quoted) if line.startswith(quoted) else line.lstrip(" \t")
        moved.append(standing + inner if line.strip() else line)
    return "".join(moved)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _lines_of(text: str, old: str) -> Iterator[int]:
    at = -1
    for _ in range(10):
        at = text.find(old, at + 1)
        if at < 0:
            return
        yield text.count("\n", 0, at) + 1
