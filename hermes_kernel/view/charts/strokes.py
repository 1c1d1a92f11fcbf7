"""Bars of charts, as lines of SVG: in shares of the width, so that letters beside them keep their size. Pure.

No element has an id: a page may show many charts, and shows some of them twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hermes_kernel.view.look import LETTERS

LEAST = 0.35  # percent of the width: a bar is to be seen
SAMPLE = '<line x1="0" x2="20" y1="5" y2="5"/>'


class Stroke(NamedTuple):
    """How a bar looks: its colour, how thick it is, its dashes, how opaque. Two that are told apart differ in more than
    their colour."""

    colour: str
    thick: float
    dashes: str = ""
    opacity: float = 1.0


def group(stroke: Stroke, lines: str) -> str:
    """Lines that look alike, and say so once."""
    dashes = f";stroke-dasharray:{stroke.dashes}" if stroke.dashes else ""
    opacity = f";opacity:{stroke.opacity:g}" if stroke.opacity < 1 else ""
    return f'<g style="stroke:{stroke.colour};stroke-width:{stroke.thick:g}{dashes}{opacity}">{lines}</g>'


def line(began: float, ended: float, y: int) -> str:
    """A bar between two shares of the width, never so short that it is not seen."""
    left = min(100 * began, 100 - LEAST)
    right = max(100 * ended, left + LEAST)
    return f'<line x1="{percent(left)}" x2="{percent(right)}" y1="{y}" y2="{y}"/>'


def beside(rows: Iterable[tuple[int, int, str, str]], share: int) -> str:
    """Of each row, at its height and indent, its name within `share` percent of the width, and its amount at the right.
    A page that shows no SVG of strangers shows these words alone: they stand in the order in which they are read."""
    words = "".join(
        f' <svg width="{share}%"><text x="{indent}" y="{y}">{name}</text></svg>'
        f' <text x="100%" y="{y}" text-anchor="end" opacity=".7">{amount}</text>'
        for y, indent, name, amount in rows
    )
    return f'<g style="{LETTERS};font-variant-numeric:tabular-nums">{words}</g>'


def percent(share: float) -> str:
    """A part of the width."""
    return f"{min(max(share, 0.0), 100.0):.2f}".rstrip("0").rstrip(".") + "%"


def legend(strokes: Iterable[tuple[str, Stroke]]) -> str:
    """Words, that are ours, and what looks so; nothing for none."""
    parts = "".join(
        '<span style="white-space:nowrap"><svg width="20" height="10" aria-hidden="true" style="display:inline-block;'
        f'vertical-align:-1px;margin-right:5px">{group(stroke, SAMPLE)}</svg>{words}</span> '
        for words, stroke in strokes
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:2px 16px;margin-top:2px">{parts}</div>' if parts else ""
