"""Where a passage stands in a text, in every way in which models misquote: each gives all the places that it finds.

What is put there is indented as what stood there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TRIED = 20_000  # lines compared at most in looking for a block
ALIKE = 0.5  # of the lines between the first and the last of a block must be the same
TYPOGRAPHY = {
    ord(typed): plain
    for plain, some in (
        ("'", "\u2018\u2019\u201a\u201b\u2032\u00b4"), ('"', "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"),
        ("-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), (" ", "\u00a0\u2007\u2009\u202f\u3000"),
        ("", "\u200b\ufeff\u00ad"),
    )
    for typed in some
}  # fmt: skip
_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}


@dataclass(frozen=True, slots=True)
class Place:
    """From ``start`` up to ``end`` of a text; ``put`` takes its place."""

    start: int
    end: int
    put: str


Places = Callable[[str, str, str], tuple[Place, ...]]


def exactly(text: str, old: str, new: str) -> tuple[Place, ...]:
    """To the letter."""
    found, at = [], text.find(old)
    while at >= 0:
        found.append(Place(at, at + len(old), new))
        at = text.find(old, at + len(old))
    return tuple(found)


def _by_lines(alike: Callable[[str], str]) -> Places:
    """Whole lines which are the same after `alike`."""

    def places(text: str, old: str, new: str) -> tuple[Place, ...]:
        lines = text.splitlines(keepends=True)
        runs = _runs([alike(line) for line in lines], [alike(line) for line in _lines(old)])
        return _placed(lines, runs, old, new)

    return places


def indented(text: str, old: str, new: str) -> tuple[Place, ...]:
    """Whole lines which are the same when all are moved left or right together."""
    lines, wanted = text.splitlines(keepends=True), _lines(old)
    shape = _outline(wanted)
    runs = _runs([line.strip() for line in lines], [line.strip() for line in wanted])
    found = [(first, last) for first, last in runs if _outline(lines[first:last]) == shape]
    return _placed(lines, found, old, new)


def blocks(text: str, old: str, new: str) -> tuple[Place, ...]:
    """Lines of which the first and the last are the same and half of those between, in a block about as long."""
    lines, wanted = text.splitlines(keepends=True), [line.strip() for line in _lines(old)]
    bare = [line.strip() for line in lines]
    begun = [at for at, line in enumerate(bare) if line == wanted[0]]
    if len(wanted) < 3 or not begun or len(begun) * len(wanted) > TRIED:
        return ()
    slack = len(wanted) // 4
    lengths = sorted(range(len(wanted) - slack, len(wanted) + slack + 1), key=lambda length: abs(length - len(wanted)))
    found, free = [], 0
    for at in begun:
        end = next(
            (
                at + length
                for length in lengths
                if free <= at <= len(bare) - length and _is_like(bare[at : at + length], wanted)
            ),
            0,
        )
        if end:
            found.append((at, end))
            free = end
    return _placed(lines, found, old, new)


def _flatly(table: dict[int, str]) -> Places:
    """The same words, whatever blanks and line ends are between them and how the characters of `table` are typed."""

    def places(text: str, old: str, new: str) -> tuple[Place, ...]:
        wanted = _flat(old, table)[0].strip(" ")
        if not wanted:
            return ()
        flat, origins = _flat(text, table)
        starts = [place.start for place in exactly(flat, wanted, "")]
        return tuple(_words(text, origins[at], origins[at + len(wanted) - 1] + 1, old, new) for at in starts)

    return places


def unescaped(text: str, old: str, new: str) -> tuple[Place, ...]:
    r"""What was escaped once too often: ``\n`` for the end of a line."""
    if "\\" not in old:
        return ()
    plain, put = _unescape(old), _unescape(new)
    return next((found for _, places in STRICT if plain.strip() and (found := places(text, plain, put))), ())


def _unescape(text: str) -> str:
    return re.sub(r"""\\[nt"'\\]""", lambda found: _ESCAPES[found[0]], text)


STRICT: tuple[tuple[str, Places], ...] = (
    ("", exactly),
    ("blanks at line ends", _by_lines(str.rstrip)),
    ("indentation", indented),
    ("indentation of single lines", _by_lines(str.strip)),
    ("white space", _flatly({})),
    ("typography", _flatly(TYPOGRAPHY)),
)
STRATEGIES: tuple[tuple[str, Places], ...] = (
    *STRICT, ("escaped characters", unescaped), ("some lines in the middle", blocks),
)  # fmt: skip


def _lines(old: str) -> list[str]:
    """The lines of a passage, without empty ones around it."""
    lines = old.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    return lines[next((n for n, line in enumerate(lines) if line.strip()), 0) :]


def _runs(shown: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where the lines `wanted` stand among `shown`: from, up to. Linear, whatever they are."""
    joined, sought = "\n".join(["", *shown, ""]), "\n".join(["", *wanted, ""])
    found, at, line, counted = [], joined.find(sought), 0, 0
    while at >= 0:
        line += joined.count("\n", counted, at)
        counted = at
        found.append((line, line + len(wanted)))
        at = joined.find(sought, at + len(sought) - 1)
    return found


def _placed(lines: Sequence[str], found: Sequence[tuple[int, int]], old: str, new: str) -> tuple[Place, ...]:
    """Places of whole lines; the end of the last is a part of it only where one is quoted."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return tuple(_place(lines[first:last], starts[first], starts[last], old, new) for first, last in found)


def _place(there: Sequence[str], start: int, end: int, old: str, new: str) -> Place:
    put = _moved(_without_frame(new, old), _indent(_lines(old)), _indent(there))
    ending = there[-1][len(there[-1].rstrip("\r\n")) :]
    if put and not put.endswith("\n"):
        end -= len(ending)
    return Place(start, end, put)


def _without_frame(new: str, old: str) -> str:
    """`new` without as many empty lines in front as `old` has."""
    for _ in itertools.takewhile(lambda line: not line.strip(), old.splitlines()):
        first, _, rest = new.partition("\n")
        new = new if first.strip() else rest
    return new


def _moved(new: str, quoted: str, standing: str) -> str:
    """`new` moved from the indentation that was quoted to the one that stands there."""
    if quoted == standing:
        return new
    return "".join(
        (standing + (line.removeprefix(quoted) if line.startswith(quoted) else line.lstrip(" \t")))
        if line.strip()
        else line
        for line in new.splitlines(keepends=True)
    )


def _indent(lines: Sequence[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def _outline(lines: Sequence[str]) -> list[str]:
    """Lines without what all are indented by."""
    full = [line for line in lines if line.strip()]
    least = min((len(line) - len(line.lstrip(" \t")) for line in full), default=0)
    return [line[least:].rstrip() if line.strip() else "" for line in lines]


def _is_like(block: Sequence[str], wanted: Sequence[str]) -> bool:
    if block[-1] != wanted[-1] or len(block) < 2:
        return False
    between = wanted[1:-1]
    held = set(block[1:-1])
    return sum(line in held for line in between) >= ALIKE * len(between)


def _flat(text: str, table: dict[int, str]) -> tuple[str, list[int]]:
    """`text` with one space for every run of blanks, and where each of its characters comes from."""
    chars: list[str] = []
    origins: list[int] = []
    for at, char in enumerate(text):
        plain = table.get(ord(char), char)
        if plain.isspace():
            if chars and chars[-1] == " ":
                continue
            plain = " "
        if plain:
            chars.append(plain)
            origins.append(at)
    return "".join(chars), origins


def _words(text: str, start: int, end: int, old: str, new: str) -> Place:
    """A place that begins and ends with a word: what is put there loses the blanks that were quoted around it."""
    inner = new
    if old[:1].isspace():
        inner = inner.lstrip() if "\n" in new[: len(new) - len(new.lstrip())] else inner.lstrip(" \t")
    if old[-1:].isspace():
        inner = inner.rstrip()
    line = text[text.rfind("\n", 0, start) + 1 : start]
    standing = line if not line.strip() else _indent([line])
    return Place(start, end, _moved_rest(inner, _indent(_lines(old)), standing))


def _moved_rest(new: str, quoted: str, standing: str) -> str:
    """All lines of `new` but the first moved from one indentation to the other."""
    first, end, rest = new.partition("\n")
    return first + end + _moved(rest, quoted, standing)
