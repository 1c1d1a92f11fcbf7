"""One tool call as a line of text, and as a line of HTML that opens on what it was given and what it gave. Pure."""

from __future__ import annotations

from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief
from hermes_kernel.view.detail import block_html, image_html, pictures, quoted
from hermes_kernel.view.words import Row

MARKS = {"asked": "·", "running": "▸", "ok": "✓", "failed": "✗", "not run": "–"}
NAME, NOTE = 64, 160  # characters of a tool's name and of a note in a line
SUMMARY = "cursor:pointer;overflow-wrap:anywhere"


def row_line(row: Row, *, timed: bool) -> str:
    """One tool call as a line of text."""
    ending = "" if row.state in ("ok", "asked") else row.state
    parts = [f"{MARKS[row.state]} {brief(row.name, NAME)}", row.arguments, brief(row.note, NOTE), ending]
    took = f"{row.seconds:.1f} s" if timed and row.seconds >= 0.1 else ""
    return clean("  ".join(part for part in (*parts, took) if part))


def summary_html(row: Row, *, timed: bool) -> str:
    """The same as HTML, with a word for its sign."""
    took = f"{row.seconds:.1f} s" if timed and row.seconds >= 0.1 else ""
    ending = " · ".join(quoted(part) for part in (brief(row.note, NOTE), row.state, took) if part)
    sign = f'<span aria-hidden="true">{MARKS[row.state]}</span>'
    words = f" {quoted(row.arguments)}" if row.arguments else ""
    return f"{sign} <code>{quoted(brief(row.name, NAME))}</code>{words} · {ending}"


def row_html(row: Row, *, timed: bool, ours: bool) -> str:
    """A line that opens on all there is of it. `ours`: it ran in this cell, where some tools show what they make."""
    line = summary_html(row, timed=timed)
    inside = "".join([block_html(row.given), block_html(row.result), *_images(row, ours=ours)])
    if not inside:
        return f"<div>{line}</div>"
    return f'<details><summary style="{SUMMARY}">{line}</summary>{inside}</details>'


def _images(row: Row, *, ours: bool) -> list[str]:
    shown = pictures(row.name, row.images, ours=ours)
    of = len(shown) + row.unseen
    images = [image_html(image, f"image {n} of {of} from {row.name}") for n, image in enumerate(shown, 1)]
    return [*images, *([f"<div>{counted(row.unseen, 'image')} left out</div>"] if row.unseen else [])]
