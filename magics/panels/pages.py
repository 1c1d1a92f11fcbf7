"""What panels show of one thing, as HTML: facts, and somebody's words as they stand. Pure; everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.text import brief
from hermes_kernel.view import escape
from hermes_kernel.view.look import GROOVE, QUIET, TONES

WHOLE = 20_000  # characters of one text that are shown
KEY = "text-align:left;vertical-align:top;padding:0 1em 0 0;font-weight:normal;white-space:nowrap"
CELL = "text-align:left;vertical-align:top;padding:0;overflow-wrap:anywhere;white-space:pre-wrap"
PAGE = "hermes-page"
LITTLE, LAST = 0.25, 0.1  # shares that are left where a bar becomes amber, and red


def words(text: str) -> str:
    """Somebody's words, line by line."""
    left = len(text) - WHOLE
    more = quiet(f"… and {left:,} more characters") if left > 0 else ""
    return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{escape(text[:WHOLE])}</div>{more}'


def quiet(text: str) -> str:
    """A line that explains."""
    return f'<div class="hermes-quiet" style="color:{QUIET}">{escape(text)}</div>' if text else ""


def marked(text: str, tone: str) -> str:
    """A line that matters, with a dot before it; `tone` is one of `look.TONES`."""
    return f'<div><span aria-hidden="true" style="color:{TONES[tone]}">● </span>{escape(text)}</div>'


def gauge(name: str, taken: int, of: int, said: str) -> str:
    """How much of something is taken, in words beside a bar."""
    left = 1 - min(taken / of, 1.0) if of > 0 else 0.0
    tone = TONES["bad" if left <= LAST else "slow" if left <= LITTLE else "busy"]
    groove = f"flex:0 1 12em;height:6px;border-radius:3px;background:{GROOVE};overflow:hidden"
    bar = (
        f'<span aria-hidden="true" style="{groove}">'
        f'<span style="display:block;height:100%;width:{100 - 100 * left:.1f}%;background:{tone}"></span></span>'
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;align-items:center;gap:0 0.8em;font-variant-numeric:tabular-nums">'
        f'<span style="flex:0 0 7em">{escape(name)}</span>{bar}<span>{escape(said)}</span></div>'
    )


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
