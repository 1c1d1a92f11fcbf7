"""Things with facts about them, as HTML without a script: the facts of one stand side by side where there is room, and
below one another where there is none, so that none is ever cut off. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.safe import NO_MATH, escape
from hermes_kernel.view.look import LINE, QUIET
from hermes_kernel.view.markup import dot

FRAME = f"border-top:1px solid {LINE};padding:4px 0;max-width:100%"
GRID = "display:grid;grid-template-columns:repeat(auto-fill,minmax(min(15em,100%),1fr));gap:0 1.5em;margin:0"
FACT = "margin:0;min-width:0;overflow-wrap:anywhere;white-space:pre-wrap"


def spread(things: Iterable[str]) -> str:
    """All of them, each as `thing` makes it."""
    return f'<div class="{NO_MATH}" style="font-variant-numeric:tabular-nums;line-height:1.5">{"".join(things)}</div>'


def thing(name: str, beside: str, facts: Iterable[tuple[str, str]], tone: str = "") -> str:
    """Its name, a word beside it, and its facts: each with what it is called, which may be nothing. ``tone`` is one of
    `look.TONES`, for a dot before the name; what it means has to be in the words."""
    return f'<div style="{FRAME}">{heading(name, beside, tone)}{grid(facts)}</div>'


def heading(name: str, beside: str, tone: str = "") -> str:
    """A name that stands out, and a quiet word."""
    return f'{dot(tone)}<strong>{escape(name)}</strong> <span style="color:{QUIET}">{escape(beside)}</span>'


def grid(facts: Iterable[tuple[str, str]]) -> str:
    """Those facts that say something."""
    cells = "".join(
        f'<div style="{FACT}">{f"""<span style="color:{QUIET}">{escape(name)}</span> """ if name else ""}{escape(said)}'
        "</div>"
        for name, said in facts
        if said
    )
    return f'<div style="{GRID}">{cells}</div>' if cells else ""


def columns(*cells: tuple[str, str]) -> str:
    """HTML side by side, each as wide as its flexibility says, so that those of several lines stand below one another;
    where it is narrow each goes on a line of its own."""
    parts = "".join(f'<div style="flex:{flex};{FACT}">{html}</div>' for html, flex in cells)
    return f'<div style="display:flex;flex-wrap:wrap;gap:0 1.5em">{parts}</div>'
