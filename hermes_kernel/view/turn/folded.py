"""The calls, subagents and notes of a turn one below the other, in no more than a notebook should carry. Pure.

Keeps true: whatever happened, the size is bounded; shares shrink as there is more to share, and what is left out is
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean
from hermes_kernel.view.markup import opens, typed_in
from hermes_kernel.view.turn import children
from hermes_kernel.view.turn.detail import Extract, cut, extract, pictures, quoted, weight
from hermes_kernel.view.turn.picture import Picture
from hermes_kernel.view.turn.rows import row_html, row_line
from hermes_kernel.view.turn.words import Row

PLAIN, LINES, TEXTS, THOUGHTS = 7_000, 19_000, 12_000, 5_000  # bytes of each in a notebook
IMAGES = 4_000_000  # characters of base64
BELOW = "    "  # before a subagent's line
LEAST = Extract("x")
AT_THE_END = 3  # where not all is shown, one line in so many is of the last ones


@dataclass(frozen=True, slots=True)
class Item:
    """One line: a ``call``, a ``subagent`` or a ``note``."""

    kind: str
    line: str
    row: Row | None = None


def lines(picture: Picture) -> list[str]:
    """As text."""
    every = tuple(_items(picture, None, timed=False))
    return [item.line for item in _trimmed(every, PLAIN, lambda item: weight(item.line) + 2)]


def briefly(picture: Picture, since: Mapping[str, float]) -> list[str]:
    """As HTML, with nothing to open: it is sent again and again."""
    every = tuple(_items(picture, since, timed=True))
    bare = (replace(item, row=item.row and _bare(item.row)) for item in every)
    return [_html(item, timed=True) for item in _trimmed(tuple(bare), LINES, lambda item: weight(_html(item)))]


def whole(picture: Picture, *, timed: bool) -> list[str]:
    """As HTML: each call opens on what it was given and what it gave."""
    shown = _trimmed(tuple(_items(picture, None, timed=timed)), LINES, _heavy)
    fitted = _fitted([item.row for item in shown if item.row])
    return [_html(replace(item, row=next(fitted)) if item.row else item, timed=timed) for item in shown]


def thoughts(picture: Picture) -> list[str]:
    """Reasoning, folded."""
    pondered = picture.thoughts.strip()
    if not pondered:
        return []
    text = quoted(str(cut(extract(pondered, THOUGHTS), THOUGHTS)))
    body = f'<div style="white-space:pre-wrap;padding-left:1em">{text}</div>'
    return [opens("reasoning", body)]


def _items(picture: Picture, since: Mapping[str, float] | None, *, timed: bool) -> Iterator[Item]:
    """`since` is of a turn at work, in which there is no room for every subagent of very many."""
    most = len(picture.children) if since is None else children.MOST
    for row, below in children.by_row(picture, since or children.NOBODY, most):
        if row:
            yield Item("call", row_line(row, timed=False), row)
        yield from (Item("subagent", BELOW + line) for line in below)
    for notice in picture.notices:
        yield Item("note", clean(notice.said if timed else notice.words))


# --- as many as fit ---------------------------------------------------------------------------------------------------


def _trimmed(items: tuple[Item, ...], room: int, heavy: Callable[[Item], int]) -> list[Item]:
    """All of them, or the first and the last with a count of the others between."""
    weights = [heavy(item) for item in items]
    if sum(weights) <= room:
        return list(items)
    last = _fit(weights[::-1], room // AT_THE_END)
    first = _fit(weights[: len(items) - last], room - sum(weights[len(items) - last :]))
    end = len(items) - last
    return [*items[:first], Item("rest", _counted(items[first:end])), *items[end:]]


def _fit(weights: Sequence[int], room: int) -> int:
    """How many of the first fit."""
    for n, each in enumerate(weights):
        room -= each
        if room < 0:
            return n
    return len(weights)


def _counted(items: Sequence[Item]) -> str:
    rows = [item.row for item in items if item.row]
    failed = sum(row.state == "failed" for row in rows)
    images = sum(len(row.images) for row in rows)
    besides = [f"{failed} failed"] * bool(failed) + [counted(images, "image")] * bool(images)
    told = f"{counted(len(rows), 'more call')} ({', '.join(besides)})".removesuffix(" ()")
    kinds = {kind: sum(item.kind == kind for item in items) for kind in ("subagent", "note")}
    more = [counted(count, f"more {kind}") for kind, count in kinds.items() if count]
    return f"… {', '.join([told] * bool(rows) + more)} …"


def _fitted(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows with so much of their texts as there is room for in all, and with as many images."""
    level = _level([weight(quoted(str(text))) for row in rows for text in (row.given, row.result)], TEXTS)
    room = IMAGES
    for row in rows:
        sizes = [len(image.data) for image in row.images]
        fit = _fit(sizes, room) if pictures(row.name, row.images, ours=True) else len(sizes)
        room -= sum(sizes[:fit])
        fewer = replace(row, images=row.images[:fit], unseen=len(sizes) - fit)
        yield replace(fewer, given=cut(row.given, level), result=cut(row.result, level))


def _level(wanted: Sequence[int], room: int) -> int:
    """The most that each may have, so that all have what they want or as much as any other."""
    for n, each in enumerate(sorted(wanted)):
        if each * (len(wanted) - n) > room:
            return room // (len(wanted) - n)
        room -= each
    return max(wanted, default=0)


# --- one line of HTML -------------------------------------------------------------------------------------------------


def _html(item: Item, *, timed: bool = True) -> str:
    if item.row:
        return row_html(item.row, timed=timed, ours=True)
    if item.kind == "subagent":
        return f'<div style="white-space:pre-wrap;padding-left:2em">{typed_in(quoted(item.line[len(BELOW) :]))}</div>'
    return f"<div>{quoted(item.line)}</div>"


def _heavy(item: Item) -> int:
    """Bytes of it but for what it was given and gave."""
    return weight(_html(replace(item, row=item.row and replace(_bare(item.row), given=LEAST, result=LEAST))))


def _bare(row: Row) -> Row:
    """A row with nothing to open."""
    return Row(row.call_id, row.name, row.arguments, row.state, row.seconds, row.note)
