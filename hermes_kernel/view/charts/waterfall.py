"""Spans as a picture: a row for each, one time axis for all, in SVG, in text of a fixed width, and as figures. Pure.

Bars are in shares of the width and letters in pixels, so that it is as readable in 400 px as in 1,400. What a bar means
is said by its shape and its words, whatever its colour; no figure is in the picture alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from hermes_kernel.core.figures import span as long_time
from hermes_kernel.core.safe import NO_MATH, clean, escape
from hermes_kernel.core.text import brief
from hermes_kernel.view import markup
from hermes_kernel.view.charts.spans import Mark, Span
from hermes_kernel.view.charts.strokes import Stroke, beside, group, legend, line, percent
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.look import FAINT, FRAME, GROOVE, INK, LINE, TONES

ROW, TOP, BAR = 29, 24, 18  # pixels: of a row, of the axis, from the top of a row to the middle of its bar
MARKS = 320  # bars of one picture; the longest are drawn
NAME, WIDE, LONG = 34, 40, 200  # characters of a name, of the bars and of a line in text
DRAWN = 42  # characters of a name in the picture
TICKS = 5
SHORTEST = 0.001  # seconds that a whole picture stands for
MINUTE, DAY = 60, 86_400  # seconds
RIGHT = "text-align:right"
LOOKS = (markup.NAMES, RIGHT, RIGHT, markup.NAMES)


class What(NamedTuple):
    """How something that takes time is called and drawn, and what it is in text."""

    words: str
    stroke: Stroke
    letter: str


WHAT = {
    "turn": What("turn", Stroke(GROOVE, 9, "", 0.7), "─"),
    "agent": What("subagent", Stroke("var(--jp-info-color1,#0288a7)", 7, "14,2"), "═"),
    "compress": What("compression", Stroke("currentColor", 7, "1,2", 0.7), "▒"),
    "pause": What("wait before asking again", Stroke("currentColor", 2, "2,4", 0.7), "┄"),
    "tool": What("tool", Stroke(TONES["person"], 5), "▬"),
    "person": What("waited for you", Stroke(TONES["person"], 5, "7,3"), "?"),
    "wait": What("until the first byte", Stroke(TONES["busy"], 3), "░"),
    "text": What("answer", Stroke(TONES["busy"], 9), "█"),
    "silence": What("silence", Stroke(TONES["slow"], 9, "2,2"), "·"),
    "failed": What("failed", Stroke(TONES["bad"], 9, "5,1.5"), "×"),
}
"""In the order in which they are drawn: what comes later lies on top."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Spans that are counted from one moment, and what is to be said of all of them: ``about`` in figures, in ``note``
    how to read them."""

    title: str
    spans: tuple[Span, ...]
    note: str = ""
    about: str = ""

    @property
    def seconds(self) -> float:
        """From the first to the last."""
        return _end(self.spans)


def waterfall(spans: Sequence[Span], title: str = "") -> str:
    """The spans as SVG, a row for each: its name above its bar, its seconds at the right."""
    total = _total(spans)
    height = TOP + ROW * len(spans) + 4
    said = escape(title or f"Timeline of {seconds(total)}")
    words = [
        (_top(n) + 11, 13 * span.depth, escape(_short(span)), seconds(span.seconds)) for n, span in enumerate(spans)
    ]
    return (
        f'<svg role="img" width="100%" height="{height}" xmlns="http://www.w3.org/2000/svg" style="display:block;'
        f'max-width:72em;font-size:12px"><title>{said}</title>{_axis(total, height)}{_bars(spans, total)}'
        f"{beside(words, 82)}</svg>"
    )


def figures(told: Timeline) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Columns and rows: what it was, after how many seconds it began, how many it took."""
    rows = tuple((span.name, f"{span.began:.1f}", f"{span.seconds:.1f}", span.note) for span in told.spans)
    return ("what", "began after", "seconds", "note"), rows


def timeline_html(told: Timeline) -> str:
    """The picture, what its bars mean, and the figures, which open."""
    head = f'<div style="color:{INK}">{escape(told.title)}</div><div>{escape(told.about)}</div>'
    note = f"<div>{escape(told.note)}</div>" if told.note else ""
    words = legend((what.words, what.stroke) for what in _used(told.spans))
    drawn = f"{markup.picture(waterfall(told.spans, told.title))}{words}{_table(told)}" if told.spans else ""
    return f'<div class="hermes-timeline {NO_MATH}" style="{FRAME}">{head}{drawn}{note}</div>'


def waterfall_text(spans: Sequence[Span]) -> str:
    """The spans as text, each on a line, all of one width but for the notes at their ends."""
    total = _total(spans)
    rows = [
        (_indented(span), _letters(span, total), f"{seconds(span.seconds):>9}", brief(clean(span.note), 60))
        for span in spans
    ]
    key = "  ".join(f"{what.letter} {what.words}" for what in _used(spans))
    return "\n".join([*aligned(("", "", "", ""), rows), *([key] if key else [])])


def timeline_text(told: Timeline) -> str:
    """The same as text."""
    lines = [brief(clean(line), LONG) for line in (told.title, told.about, told.note)]
    drawn = waterfall_text(told.spans) if told.spans else ""
    return "\n".join(part for part in (*lines[:2], drawn, lines[2]) if part)


def seconds(length: float) -> str:
    """A length of time, to a tenth of a second where that matters."""
    return f"{length:.1f} s" if length < 99.95 else long_time(length)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _end(spans: Sequence[Span]) -> float:
    return max((span.ended for span in spans), default=0.0)


def _total(spans: Sequence[Span]) -> float:
    """The seconds that the width stands for."""
    return _end(spans) if _end(spans) >= SHORTEST else 1.0


def _top(row: int) -> int:
    return TOP + ROW * row


def _short(span: Span) -> str:
    """As much of a name as is seen where it is narrow; the figures have all of it."""
    return brief(span.name, DRAWN - 2 * span.depth)


def _axis(total: float, height: int) -> str:
    """Moments that are easy to say, each a hair line."""
    step = next(size for size in _steps() if total / size <= TICKS)
    ticks = [n * step for n in range(int(total / step) + 1)]
    lines = "".join(
        f'<line x1="{percent(100 * t / total)}" x2="{percent(100 * t / total)}" y1="16" y2="{height}"/>' for t in ticks
    )
    # Left of their lines: whatever the width, the last one cannot stick out.
    words = '<text y="11" dx="3">0</text>' + "".join(
        f' <text x="{percent(100 * t / total)}" y="11" dx="-3" text-anchor="end">{_moment(t)}</text>' for t in ticks[1:]
    )
    hair = f'<g style="stroke:{LINE};stroke-width:1;opacity:.55">{lines}</g>'
    return f' {hair}<g style="{FAINT};font-size:11px">{words}</g>'


def _steps() -> Iterator[float]:
    """Lengths of time that clocks have names for, the shortest first."""
    for power in range(-3, 1):
        yield from (1 * 10.0**power, 2 * 10.0**power, 5 * 10.0**power)
    yield from (10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200)
    yield from (DAY * 10.0**power * share for power in range(9) for share in (1, 2, 5))
    yield float("inf")


def _moment(t: float) -> str:
    return f"{t:g} s" if t < MINUTE else long_time(t)


def _bars(spans: Sequence[Span], total: float) -> str:
    """The marks of all rows, those of a kind together: they look alike, and say so once."""
    drawn = [(mark, _top(n) + BAR + 1) for n, span in enumerate(spans) for mark in span.shown]
    drawn = nlargest(MARKS, drawn, key=lambda each: each[0].seconds)
    return "".join(
        group(what.stroke, "".join(_line(mark, y, total) for mark, y in drawn if mark.what == name))
        for name, what in WHAT.items()
        if any(mark.what == name for mark, _ in drawn)
    )


def _line(mark: Mark, y: int, total: float) -> str:
    return line(mark.began / total, (mark.began + mark.seconds) / total, y)


def _used(spans: Sequence[Span]) -> list[What]:
    """The kinds that there are."""
    used = {mark.what for span in spans for mark in span.shown}
    return [what for name, what in WHAT.items() if name in used]


def _table(told: Timeline) -> str:
    columns, rows = figures(told)
    head = "".join(f'<th style="{look}">{name}</th>' for name, look in zip(columns, LOOKS, strict=True))
    depths = [span.depth for span in told.spans]
    body = "".join(f"<tr>{_cells(row, depth)}</tr>" for row, depth in zip(rows, depths, strict=True))
    return markup.figures(head, body, "figures of the timeline")


def _cells(row: Sequence[str], depth: int) -> str:
    name, *rest = row
    first = f'<td style="{markup.NAMES};padding-left:{0.5 + depth}em">{escape(name)}</td>'
    return first + "".join(
        f'<td style="{look}">{escape(cell)}</td>' for cell, look in zip(rest, LOOKS[1:], strict=True)
    )


def _indented(span: Span) -> str:
    inside = "  " * span.depth
    return (inside + brief(clean(span.name), NAME - len(inside))).ljust(NAME)


def _letters(span: Span, total: float) -> str:
    cells = [" "] * WIDE
    order = list(WHAT)
    for mark in sorted(span.shown, key=lambda mark: order.index(mark.what)):
        first = min(int(WIDE * mark.began / total), WIDE - 1)
        last = max(min(round(WIDE * (mark.began + mark.seconds) / total), WIDE), first + 1)
        cells[first:last] = WHAT[mark.what].letter * (last - first)
    return "".join(cells)
