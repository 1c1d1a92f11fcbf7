"""A turn at work in pieces of HTML, one for each widget: tool calls, subagents, notes. Pure.

Keeps true: a key never changes its meaning, and a piece's HTML changes only when something in it did: what a person has
opened stays open. Only the line of a subagent at work ticks. However long a turn is, there are few pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief
from hermes_kernel.view.look import LINE
from hermes_kernel.view.markup import opens, typed_in
from hermes_kernel.view.turn import meters
from hermes_kernel.view.turn.children import MOST, TASK, ended
from hermes_kernel.view.turn.detail import quoted
from hermes_kernel.view.turn.picture import Child, Picture
from hermes_kernel.view.turn.rows import row_html, row_line
from hermes_kernel.view.turn.words import Notice, Row, lasting

TOGETHER = 10  # calls that stand in one piece once as many came after them
RECENT = 3  # calls of a subagent that are shown
NOTICES = 5
INDENT = 1.25  # em by which a subagent stands below its parent
LIST = "white-space:pre-wrap;overflow-wrap:anywhere;margin:0"


@dataclass(frozen=True, slots=True)
class Piece:
    """One widget's HTML, under a key that is its own for good."""

    key: str
    html: str


def pieces(picture: Picture, since: Mapping[str, float]) -> Iterator[Piece]:
    """The calls, each with the subagents that work for it, those that work for none, and what is worth a note."""
    below = _by_row(picture)
    early = max(len(picture.rows) - TOGETHER, 0) // TOGETHER * TOGETHER
    for n, row in enumerate(picture.rows):
        if n >= early:
            yield Piece(f"row:{n}", row_html(row, timed=True, ours=True))
        elif n % TOGETHER == 0:
            yield Piece(f"rows:{n}", _earlier(picture.rows[n : n + TOGETHER]))
        for which, child in below.get(n, ()):
            yield from _child(child, f"child:{which}", since, 1)
    for which, child in below.get(len(picture.rows), ()):
        yield from _child(child, f"child:{which}", since, 1)
    if (more := len(picture.children) - MOST) > 0:
        yield Piece("more", f"<div>and {counted(more, 'more subagent')}</div>")
    yield from _notices(picture.notices)


def _by_row(picture: Picture) -> dict[int, list[tuple[int, Child]]]:
    """The subagents to be shown, numbered, by the call they work for; those that work for none come behind the last.
    Whoever is at work goes first where there are very many."""
    last = {row.call_id: n for n, row in enumerate(picture.rows)}  # a careless provider uses ids again
    order = sorted(enumerate(picture.children), key=lambda each: (each[1].over, -each[0] if each[1].over else each[0]))
    below: dict[int, list[tuple[int, Child]]] = {}
    for which, child in sorted(order[:MOST], key=lambda each: each[0]):
        below.setdefault(last.get(child.call_id, len(picture.rows)), []).append((which, child))
    return below


def _earlier(rows: tuple[Row, ...]) -> str:
    failed = sum(row.state == "failed" for row in rows)
    told = f"{counted(len(rows), 'earlier call')}{f', {failed} of them failed' if failed else ''}"
    lines = quoted("\n".join(row_line(row, timed=True) for row in rows))
    return opens(told, f'<pre style="{LIST}">{lines}</pre>')


def _child(child: Child, key: str, since: Mapping[str, float], depth: int) -> Iterator[Piece]:
    """A subagent, its latest calls, and its own subagents; one line once it is over."""
    yield Piece(key, _indented(_head(child, since.get(child.lease, 0.0)), depth))
    rows = child.picture.rows
    for n in range(max(len(rows) - RECENT, 0), len(rows)):
        yield Piece(f"{key}/row:{n}", _indented(row_html(rows[n], timed=True, ours=False), depth))
    for which, below in enumerate(child.picture.children[:MOST]):
        yield from _child(below, f"{key}/child:{which}", since, depth + 1)


def _head(child: Child, seconds: float) -> str:
    task = quoted(brief(clean(child.task), TASK)) or "a subagent"
    if child.over:
        sign, words = ended(child)
        return f'<div><span aria-hidden="true">{sign}</span> {task} · {quoted(words)}</div>'
    at = typed_in(quoted(lasting(child.picture.status, seconds)))
    earlier = len(child.picture.rows) - RECENT
    more = f" · {counted(earlier, 'earlier call')}" if earlier > 0 else ""
    bar = meters.bar_html(meters.budget(child.picture))
    return f'<div><span aria-hidden="true">▸</span> {task} · {at}{more}</div><div style="{meters.LINE}">{bar}</div>'


def _notices(notices: tuple[Notice, ...]) -> Iterator[Piece]:
    if (before := len(notices) - NOTICES) > 0:
        yield Piece("notes", f"<div>{counted(before, 'earlier note')}</div>")
    for n in range(max(before, 0), len(notices)):
        yield Piece(f"note:{n}", f"<div>{quoted(notices[n].said)}</div>")


def _indented(html: str, depth: int) -> str:
    style = f"margin-left:{INDENT * min(depth, 4):g}em;padding-left:8px;border-left:2px solid {LINE}"
    return f'<div style="{style}">{html}</div>'
