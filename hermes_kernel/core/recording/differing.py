"""Two texts told apart word by word: what stands in both, what only in the one, what only in the other. Pure.

Time is bounded for texts of any size: where they differ in more than a few hundred words, all between the first and
the last of them is taken for different.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from hermes_kernel.core.recording.alike import ends_alike
from hermes_kernel.core.safe import clean

_WORDS = re.compile(r"\s{1,40}|\w{1,40}|[^\w\s]")
_MOST_EDITS = 300
_MOST_STEPS = 1_000_000
_SHOWN = 80  # characters of one passage that differs
_AROUND = 32  # characters of what stands in both, at each side of a difference


@dataclass(frozen=True, slots=True)
class Passage:
    """``mark`` is " " for what stands in both texts, "-" for what only the first has, "+" for what only the second."""

    mark: str
    text: str


def differences(old: str, new: str) -> tuple[Passage, ...]:
    """What of `old` stays in `new`, goes, and comes. Without what comes it is `old`, without what goes it is `new`."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    start, end = ends_alike(before, after)
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    marked = [(" ", word) for word in before[:start]]
    marked += _edits(gone, come)
    marked += [(" ", word) for word in before[len(before) - end :]]
    return tuple(Passage(mark, "".join(word for _, word in run)) for mark, run in groupby(marked, lambda one: one[0]))


def marked(passages: Iterable[Passage], around: int = _AROUND, shown: int = _SHOWN) -> str:
    """In one line that moves no cursor, with ``[-gone-]`` and ``{+come+}``; what is the same is shortened to what
    stands beside them."""
    parts = list(passages)
    return "".join(_one(part, at, len(parts), around, shown) for at, part in enumerate(parts))


def _one(part: Passage, at: int, parts: int, around: int, shown: int) -> str:
    text = clean(part.text).replace("\n", "⏎")
    match part.mark:
        case "-":
            return f"[-{_cut(text, shown)}-]"
        case "+":
            return f"{{+{_cut(text, shown)}+}}"
    before, behind = around if at else 0, around if at < parts - 1 else 0
    return text if before + behind >= len(text) else f"{_begin(text[:before])}…{_end(text[len(text) - behind :])}"


def _begin(text: str) -> str:
    """As many whole words as there are."""
    return text[: text.rfind(" ") + 1 or len(text)]


def _end(text: str) -> str:
    return text[max(text.find(" "), 0) :]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - most // 4]}…{text[-(most // 4) :]}"


def _edits(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Both as a row of marked words, with as few that differ as can be found in time."""
    rows = _rows(old, new)
    if rows is None:
        return [("-", word) for word in old] + [("+", word) for word in new]
    return list(_ordered(list(_back(rows, old, new))[::-1]))


def _rows(old: Sequence[str], new: Sequence[str]) -> list[dict[int, int]] | None:
    """How far one comes with each number of edits, on each diagonal (Myers 1986); None: not in time."""
    best, rows, steps = {1: 0}, list[dict[int, int]](), 0
    while len(rows) < _MOST_EDITS and steps < _MOST_STEPS:
        edits = len(rows)
        rows.append(dict(best))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and best[diagonal - 1] < best[diagonal + 1])
            at = begun = best[diagonal + 1] if down else best[diagonal - 1] + 1
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            best[diagonal] = at
            steps += at - begun + 1
            if at >= len(old) and at - diagonal >= len(new):
                return rows
    return None


def _back(rows: list[dict[int, int]], old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The way that led to the end, from its end."""
    at, to = len(old), len(new)
    for edits in range(len(rows) - 1, 0, -1):
        best, diagonal = rows[edits], at - to
        down = diagonal == -edits or (diagonal != edits and best[diagonal - 1] < best[diagonal + 1])
        before = best[diagonal + 1] if down else best[diagonal - 1]
        begun = before if down else before + 1
        yield from ((" ", word) for word in old[begun:at][::-1])
        at, to = before, begun - diagonal - (1 if down else 0)
        yield ("+", new[to]) if down else ("-", old[at])
    yield from ((" ", word) for word in old[:at][::-1])


def _ordered(words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Between two words that stay, what goes comes before what comes."""
    for _, run in groupby(words, lambda one: one[0] == " "):
        yield from sorted(run, key=lambda one: one[0] == "+")
