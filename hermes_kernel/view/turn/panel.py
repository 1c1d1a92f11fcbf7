"""A turn that is at work as a panel: one line that says what is going on, meters, and pieces. A value, and pure.

Whoever paints it has a widget for each piece, and sends again what has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hermes_kernel.core.safe import escape
from hermes_kernel.view.turn import children, meters
from hermes_kernel.view.turn.bundle import tokens
from hermes_kernel.view.turn.meters import Meter, Part, meter_html
from hermes_kernel.view.turn.picture import MUSING, Picture
from hermes_kernel.view.turn.pieces import Piece, pieces
from hermes_kernel.view.turn.present import heard_html, seen_html, spoken_line, status_line

__all__ = ["Meter", "Panel", "Part", "Piece", "meter_html", "panel", "spoken_html", "status_html", "thoughts_html"]


@dataclass(frozen=True, slots=True)
class Panel:
    """A moment of a turn. ``status`` ticks, ``spoken`` does not; ``thoughts`` are the last of them, as text."""

    status: str
    spoken: str
    tone: str
    budget: Meter
    silence: Meter | None
    cost: str
    pieces: tuple[Piece, ...]
    thoughts: str
    asking: bool


def panel(picture: Picture, since: Mapping[str, float] = children.NOBODY) -> Panel:
    """`picture` as a panel. `since` has the seconds for which the turn, called ``""``, and each subagent, by its lease,
    have been at what they are at."""
    return Panel(
        status_line(picture, since.get("", 0.0)),
        spoken_line(picture),
        picture.status.tone,
        meters.budget(picture),
        meters.quiet(picture.silence),
        tokens(picture.usage),
        tuple(pieces(picture, since)),
        _last(picture),
        children.asking(picture),
    )


def status_html(shown: Panel) -> str:
    """The line that is seen. It ticks, so it is not read out."""
    return seen_html(shown.status, shown.tone)


def spoken_html(shown: Panel) -> str:
    """The line that is read out."""
    return heard_html(shown.spoken)


def thoughts_html(thoughts: str) -> str:
    """Reasoning, to be folded by whoever shows it."""
    return f'<div style="white-space:pre-wrap;padding-left:1em">{escape(thoughts)}</div>'


def _last(picture: Picture) -> str:
    text = (picture.thoughts[-MUSING:] + picture.musing)[-MUSING:].strip()
    before = len(picture.thoughts) + picture.mused - MUSING
    return text if before <= 0 else f"… {before:,} characters before …\n{text}"
