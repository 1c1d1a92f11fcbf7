"""What an iteration costs the further a turn has come, as a picture: both axes logarithmic, no script, light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from tests.bench.rows import OURS

Curve = Sequence[Sequence[float]]
"""Pairs of iterations and milliseconds."""

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 34, 48
LETTERS = 15
"""Pixels between two names beside the ends of their lines."""

INK = "#7d8590"
COLOURS = ("#2da44e", "#d29922", "#8b949e", "#cf222e", "#1f6feb", "#8250df", "#bf3989", "#1b7c83")


def drawn(curves: Mapping[str, Curve]) -> str:
    """The picture of so many curves."""
    points = [point for curve in curves.values() for point in curve if point[1] > 0]
    across = _axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = _axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    lines = [*_grid(across, up), *_curves(curves, across, up)]
    head = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="{INK}"'
    title = "<title>Milliseconds of CPU that an iteration costs, by iterations of its turn</title>"
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {head}>', title, *lines, "</svg>\n"])


class Axis:
    """Values between two powers of ten, as pixels between two ends."""

    def __init__(self, low: int, high: int, ends: tuple[float, float]) -> None:
        self.low, self.high, self.ends = low, high, ends

    def __call__(self, value: float) -> float:
        start, end = self.ends
        return start + (end - start) * (math.log10(value) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> Iterator[float]:
        return (10.0**power for power in range(self.low, self.high + 1))


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(low, max(high, low + 1), (start, end))


def _grid(across: Axis, up: Axis) -> Iterator[str]:
    for at in across.ticks:
        x = across(at)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{INK}" stroke-opacity=".25"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{at:,g}</text>'
    for at in up.ticks:
        y = up(at)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{INK}" stroke-opacity=".25"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{at:,g} ms</text>'
    yield f'<text x="{LEFT}" y="18">CPU of one iteration</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">iterations of the turn</text>'


def _curves(curves: Mapping[str, Curve], across: Axis, up: Axis) -> Iterator[str]:
    told = {name: [(across(x), up(y)) for x, y in curve if y > 0] for name, curve in curves.items()}
    told = {name: line for name, line in told.items() if line}
    places = _apart({name: line[-1][1] for name, line in told.items()})
    for (name, line), colour in zip(told.items(), COLOURS, strict=False):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
        wide = 3 if name == OURS else 1.6
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
        x, y = line[-1]
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
        begin = WIDTH - RIGHT + 12
        yield f'<path d="M{x + 4:.1f} {y:.1f}L{begin - 3} {places[name]:.1f}" stroke="{colour}" stroke-opacity=".35"/>'
        bold = ' font-weight="bold"' if name == OURS else ""
        yield f'<text x="{begin}" y="{places[name] + 4:.1f}" fill="{colour}"{bold}>{escape(name)}</text>'


def _apart(wanted: Mapping[str, float]) -> dict[str, float]:
    """Where names stand: in the order of their lines, none upon another."""
    placed: dict[str, float] = {}
    last = float(TOP)
    for name in sorted(wanted, key=lambda name: wanted[name]):
        last = placed[name] = max(wanted[name], last + LETTERS)
    return placed
