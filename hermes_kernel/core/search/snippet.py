"""The few words around what was found, with the finds marked. Offsets are into the message's own text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from hermes_kernel.core.search.found import Snippet
from hermes_kernel.core.search.query import Query, Term
from hermes_kernel.core.search.rank import needle, terms
from hermes_kernel.core.search.words import Unit, units

WIDTH = 160  # characters, about two lines of a terminal
SNAP = 16  # an edge moves inwards so far at most, so that it does not cut a word

# What breaks a line, moves a cursor or turns the direction of writing has no place in an excerpt.
_SPACE = r"\s\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_BLANK, _SOLID = re.compile(f"[{_SPACE}]+"), re.compile(f"[^{_SPACE}]")


class _Find(NamedTuple):
    """Where a term stands in a text."""

    start: int
    end: int
    term: Term


def snippet(text: str, query: Query, width: int = WIDTH) -> Snippet:
    """The stretch of ``text`` that shows the most different terms, white space drawn together, ``…`` where it is cut.
    A text of megabytes costs no more than reading it once."""
    text = unicodedata.normalize("NFC", text)
    finds = _finds(text, terms(query), width)
    start, end = _window(text, finds, width)
    return Snippet(tuple(_pieces(text, start, end, finds)))


def squeezed(text: str) -> str:
    """``text`` on one line: white space and control characters drawn together into single spaces."""
    return _BLANK.sub(" ", text)


def _finds(text: str, wanted: Sequence[Term], width: int) -> list[_Find]:
    """Every place of a wanted term, in order; where one stretch has them all, no further than that."""
    finds: list[_Find] = []
    last: dict[Term, int] = {}
    enough = len(text)
    for find in _seek(text, wanted):
        if find.start > enough:
            break
        finds.append(find)
        last[find.term] = find.start
        if len(last) == len(wanted) and find.end - min(last.values()) <= width:
            enough = min(enough, find.end + width)
    return sorted(finds, key=lambda find: find[:2])


def _seek(text: str, wanted: Sequence[Term]) -> Iterator[_Find]:
    """Each find, as it ends."""

    @cache
    def ending(name: str) -> tuple[Term, ...]:
        """The terms that may end with this unit or part."""
        return tuple(term for term in wanted if _is(name, term.units[-1], term.prefix))

    recent: deque[Unit] = deque(maxlen=max((len(term.units) for term in wanted), default=1))
    for unit in units(text):
        recent.append(unit)
        for name in (unit.text, *unit.parts):
            for term in ending(name):
                start = unit.start if len(term.units) == 1 else _start(recent, term)
                if start is not None:
                    yield _Find(start, unit.end, term)


def _is(name: str, last: str, prefix: bool) -> bool:  # noqa: FBT001 - a field of `Term`
    return name.startswith(last) if prefix else name == last


def _start(recent: deque[Unit], term: Term) -> int | None:
    """Where a phrase begins, if it ends at the last of these units: in several of them, or in the parts of one."""
    several = tuple(recent)[-len(term.units) :]
    if needle(term) in _line(unit.text for unit in several):
        return several[0].start
    return recent[-1].start if needle(term) in _line(recent[-1].parts) else None


def _line(names: Iterable[str]) -> str:
    return "".join(f" {name} " for name in names)


def _window(text: str, finds: Sequence[_Find], width: int) -> tuple[int, int]:
    """The stretch to show: the first with the most different terms, and the text around them."""
    first, last = _fullest(finds, width)
    spare = max(width - (last - first), 0)
    start = max(min(first - spare // 2, len(text) - width), 0)
    end = min(start + width, len(text))
    if start and (blank := _BLANK.search(text, start, min(start + SNAP, first))):
        start = blank.end()
    blanks = list(_BLANK.finditer(text, max(end - SNAP, last), end)) if end < len(text) else []
    return start, blanks[-1].start() if blanks else end


def _fullest(finds: Sequence[_Find], width: int) -> tuple[int, int]:
    """From the first to the last find of the stretch with the most different terms."""
    best, stretch = (0, 0, 0), Counter[Term]()
    behind = 0
    for find in finds:
        stretch[find.term] += 1
        while find.end - finds[behind].start > width and finds[behind] is not find:
            stretch[finds[behind].term] -= 1
            behind += 1
        different = len(+stretch)
        if different > best[0]:
            best = (different, finds[behind].start, find.end)
    return best[1], best[2]


def _pieces(text: str, start: int, end: int, finds: Sequence[_Find]) -> Iterator[tuple[str, bool]]:
    """The stretch in pieces, those found marked, with an ellipsis at each end that is not the text's own."""
    at, pieces = start, list[tuple[str, bool]]()
    for left, right in _marks(finds, start, end):
        pieces += [(squeezed(text[at:left]), False), (squeezed(text[left:right]), True)]
        at = right
    pieces = [piece for piece in (*pieces, (squeezed(text[at:end]), False)) if piece[0]] or [("", False)]
    pieces[0] = pieces[0][0].lstrip(), pieces[0][1]
    pieces[-1] = pieces[-1][0].rstrip(), pieces[-1][1]
    before, after = ("…" if _SOLID.search(text, *rest) else "" for rest in ((0, start), (end, len(text))))
    yield from (piece for piece in ((before, False), *pieces, (after, False)) if piece[0])


def _marks(finds: Sequence[_Find], start: int, end: int) -> list[tuple[int, int]]:
    """What is marked between ``start`` and ``end``: whole finds, and the beginning of one that is too long to show."""
    marks: list[tuple[int, int]] = []
    for left, right, _ in finds:
        if left < start or left >= end or (right > end and left > start):
            continue
        if marks and left <= marks[-1][1]:
            marks[-1] = marks[-1][0], max(marks[-1][1], min(right, end))
        else:
            marks.append((left, min(right, end)))
    return marks
