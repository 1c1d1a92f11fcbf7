"""Amounts as bars one below the other, each made of parts, with its sum at the right. Pure.

Bars are in shares of the width and letters in pixels: as readable in 400 px as in 1,400. Whoever shows a chart shows
its figures beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import NO_MATH, escape
from hermes_kernel.core.text import brief
from hermes_kernel.view.charts.strokes import Stroke, beside, group, legend, line
from hermes_kernel.view.look import FRAME, TONES
from hermes_kernel.view.markup import NAMES, figures, picture

ROWS, NAME, TITLE = 31, 40, 200
ROW, TOP, BAR = 29, 4, 18  # pixels: of a row, above the first, from the top of a row to the middle of its bar
MOST = 1e300
LEFT, RIGHT = f'style="{NAMES}"', 'style="text-align:right"'
STROKES = (
    Stroke(TONES["busy"], 9),
    Stroke(TONES["busy"], 4),
    Stroke(TONES["person"], 9, "3,1.5"),
    Stroke(TONES["slow"], 5),
    Stroke("currentColor", 5, "1,2", 0.7),
    Stroke(TONES["bad"], 3),
)
"""Of the parts in their order; no chart of ours has more."""

Row = tuple[str, Sequence[float]]


def bars(rows: Sequence[Row], series: Sequence[str], title: str) -> str:
    """A bar for each row, of one part for each of `series`, as SVG. Those beyond `ROWS` are one together."""
    shown = [(brief(name, NAME), [sane(amount) for amount in amounts[: len(series)]]) for name, amounts in fewer(rows)]
    longest = max((sum(amounts) for _, amounts in shown), default=0.0) or 1.0
    height = TOP + ROW * len(shown) + 2
    words = [(_top(n) + 11, 0, escape(name), said(sum(amounts))) for n, (name, amounts) in enumerate(shown)]
    drawn = "".join(group(stroke, _lines(shown, at, longest)) for at, stroke in enumerate(STROKES[: len(series)]))
    return (
        f'<svg role="img" width="100%" height="{height}" xmlns="http://www.w3.org/2000/svg" style="display:block;'
        f'max-width:72em;font-size:12px"><title>{escape(brief(title, TITLE))}</title>{drawn}{beside(words, 72)}</svg>'
    )


def chart_html(rows: Sequence[Row], series: Sequence[str], title: str) -> str:
    """The bars below their title, and what their parts are; nothing where there is nothing to compare."""
    if not any(sane(amount) for _, amounts in rows for amount in amounts):
        return ""
    used = [
        (escape(name), stroke)
        for at, (name, stroke) in enumerate(zip(series, STROKES, strict=False))
        if any(sane(amounts[at]) for _, amounts in rows if at < len(amounts))
    ]
    head = f"<div>{escape(brief(title, TITLE))}</div>"
    drawn = picture(bars(rows, series, title)) + legend(used)
    return f'<div class="{NO_MATH}" style="{FRAME}margin:0 0 0.8em">{head}{drawn}</div>'


def figures_html(rows: Sequence[Row], series: Sequence[str]) -> str:
    """The amounts of a chart as a table that opens, for where none stands beside it; nothing for none."""
    if not rows:
        return ""
    head = "<th></th>" + "".join(f"<th {RIGHT}>{escape(name)}</th>" for name in series)
    body = "".join(
        f"<tr><td {LEFT}>{escape(brief(name, NAME))}</td>"
        + "".join(f"<td {RIGHT}>{said(sane(amount))}</td>" for amount in amounts[: len(series)])
        + "</tr>"
        for name, amounts in fewer(rows)
    )
    return figures(head, body, "figures of the chart")


def fewer(rows: Sequence[Row]) -> list[Row]:
    """As many rows as are drawn, the rest added up."""
    if len(rows) <= ROWS:
        return list(rows)
    rest = [amounts for _, amounts in rows[ROWS - 1 :]]
    width = max(map(len, rest))
    added = [sum(sane(row[at]) for row in rest if at < len(row)) for at in range(width)]
    return [*rows[: ROWS - 1], (f"{counted(len(rest), 'other')}", added)]


def sane(amount: float) -> float:
    """An amount that can be drawn: nothing less than none."""
    return min(float(amount), MOST) if isfinite(amount) and amount > 0 else 0.0


def said(amount: float) -> str:
    """An amount in figures; parts of one where there are any."""
    return f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.4f}"


def _top(row: int) -> int:
    return TOP + ROW * row


def _lines(rows: Sequence[tuple[str, Sequence[float]]], at: int, longest: float) -> str:
    """The part with this number, of every row that has one."""
    return "".join(
        line(sum(amounts[:at]) / longest, sum(amounts[: at + 1]) / longest, _top(n) + BAR)
        for n, (_, amounts) in enumerate(rows)
        if at < len(amounts) and amounts[at]
    )
