"""What panels show of one thing, as HTML: facts, and somebody's words as they stand. Pure; everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.safe import escape
from hermes_kernel.core.text import brief
from hermes_kernel.view.look import QUIET
from hermes_kernel.view.markup import quiet
from hermes_kernel.view.turn.meters import Meter, Part, meter_html, tone

WHOLE = 20_000  # characters of one text that are shown
KEY = "text-align:left;vertical-align:top;padding:0 1em 0 0;font-weight:normal;white-space:nowrap"
CELL = "text-align:left;vertical-align:top;padding:0;overflow-wrap:anywhere;white-space:pre-wrap"
PAGE = "hermes-page"


def words(text: str) -> str:
    """Somebody's words, line by line."""
    left = len(text) - WHOLE
    more = quiet(f"… and {left:,} more characters") if left > 0 else ""
    return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{escape(text[:WHOLE])}</div>{more}'


def gauge(name: str, taken: int, of: int, said: str) -> str:
    """How much of something is taken, in words beside a bar that turns amber, and then red."""
    return meter_html(Meter(name, (Part("taken", min(taken, of), tone(of - taken, of)),), of, said))


def beside(*parts: str) -> str:
    """Side by side, and below one another where it is narrow."""
    return f'<div style="display:flex;flex-wrap:wrap;gap:0 2.5em">{"".join(parts)}</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what they stand for, those that stand for something."""
    cells = "".join(
        f'<tr><th scope="row" style="{KEY};color:{QUIET}">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(brief(said, WHOLE) if len(said) > WHOLE else said)}</td></tr>'
        for name, said in rows
        if said
    )
    return f'<table style="border-collapse:collapse;margin:0">{cells}</table>' if cells else ""


def difference(before: Iterable[str], after: Iterable[str]) -> str:
    """What went and what came, each in full behind its sign."""
    old, new = tuple(before), tuple(after)
    gone = [("\u2212", each) for each in old if each not in new]
    came = [("+", each) for each in new if each not in old]
    return "".join(
        f'<div style="display:flex;gap:0.6em"><span>{sign}</span>{words(each)}</div>' for sign, each in (*gone, *came)
    )
