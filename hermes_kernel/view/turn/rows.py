"""One tool call as a line of text, and as a line of HTML that opens on what it was given and what it gave. Pure."""

from __future__ import annotations

from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.markup import opens
from hermes_kernel.view.turn.detail import block_html, image_html, pictures, quoted
from hermes_kernel.view.turn.words import Row

MARKS = {"asked": "·", "running": "▸", "ok": "✓", "failed": "✗", "not run": "–"}
NAME, NOTE = 64, 160  # characters of a tool's name and of a note in a line
SIGNS = MARKS | {"running": "·"}  # beside the triangle of what opens
WHOLE = "display:inline-flex;gap:.5em;width:calc(100% - 1.3em)"
MIDDLE = "flex:1;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
ENDING = "white-space:nowrap"
TIMED = f"{ENDING};font-variant-numeric:tabular-nums"
CLOSED = "padding-left:1.1em"
BODY = "padding-left:1.1em;overflow-wrap:anywhere"


def row_line(row: Row, *, timed: bool) -> str:
    """One tool call as a line of text."""
    ending = "" if row.state in ("ok", "asked") else row.state
    parts = [f"{MARKS[row.state]} {brief(row.name, NAME)}", row.arguments, brief(row.note, NOTE), ending]
    took = f"{row.seconds:.1f} s" if timed and row.seconds >= 0.1 else ""
    return clean("  ".join(part for part in (*parts, took) if part))


def summary_html(row: Row, *, timed: bool) -> str:
    """The same as HTML on one line, cut short by whoever draws it; a word beside its sign."""
    took = f"{row.seconds:.1f} s" if timed and row.seconds >= 0.1 else ""
    ending = dotted(row.state, took)
    said = dotted(quoted(row.arguments), quoted(brief(row.note, NOTE)))
    name = f'<span aria-hidden="true">{SIGNS[row.state]}</span> <code>{quoted(brief(row.name, NAME))}</code>'
    style = TIMED if took else ENDING
    middle = f'<span style="{MIDDLE}">{said}</span> <span style="{style}"><span hidden>· </span>{ending}</span>'
    return f'<span style="{WHOLE}"><span>{name}</span> {middle}</span>'


def row_html(row: Row, *, timed: bool, ours: bool) -> str:
    """A line that opens on all there is of it. `ours`: it ran in this cell, where some tools show what they make."""
    line = summary_html(row, timed=timed)
    result = f"<div>result</div>{block_html(row.result)}" if row.result else ""
    inside = "".join([block_html(row.given), result, *_images(row, ours=ours)])
    if not inside:
        return f'<div style="{CLOSED}">{line}</div>'
    note = f"<div>{quoted(brief(row.note, NOTE))}</div>" if row.note else ""
    body = f'<div style="{BODY}">{note}{inside}</div>'
    return opens(line, body)


def _images(row: Row, *, ours: bool) -> list[str]:
    shown = pictures(row.name, row.images, ours=ours)
    of = len(shown) + row.unseen
    images = [image_html(image, f"image {n} of {of} from {row.name}") for n, image in enumerate(shown, 1)]
    return [*images, *([f"<div>{counted(row.unseen, 'image')} left out</div>"] if row.unseen else [])]
