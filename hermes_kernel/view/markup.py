"""Pieces of HTML that stand in many places, each made here. Pure.

What is called `html` is safe and stands as it is; whatever else comes in is escaped here.
"""

from __future__ import annotations

import re

from hermes_kernel.core.safe import NO_MATH, escape
from hermes_kernel.view.look import INK, QUIET, TONES

BACKTICKS = re.compile(r"`([^`\n]+)`")
NAMES = "text-align:left;min-width:3em;overflow-wrap:anywhere"
NUMBERS = "border-collapse:collapse;font-variant-numeric:tabular-nums;overflow-wrap:normal"


def typed(html: str) -> str:
    """`html` in which what stands between backticks, which is to be typed, is set as code."""
    return BACKTICKS.sub(r"<code>\1</code>", html)


def typed_in(html: str) -> str:
    """The same in HTML that may stand in Markdown, where a backtick is a character reference."""
    return typed(html.replace("&#96;", "`")).replace("`", "&#96;")


def dot(tone: str, sign: str = "●") -> str:
    """A sign before words that say the same, in the colour of `tone`, one of `look.TONES`; nothing for no tone."""
    return f'<span aria-hidden="true" style="color:{TONES[tone]}">{sign} </span>' if tone else ""


def quiet(text: str) -> str:
    """A line that explains; nothing for nothing."""
    return _quiet(escape(text))


def hint(text: str) -> str:
    """The same in words of ours, in which what is to be typed is set as code."""
    return _quiet(typed(escape(text)))


def _quiet(html: str) -> str:
    return f'<div class="hermes-quiet" style="color:{QUIET}">{html}</div>' if html else ""


def marked(text: str, tone: str) -> str:
    """A line that matters, with a dot before it."""
    return f"<div>{dot(tone)}{escape(text)}</div>"


def status(html: str) -> str:
    """A line that is seen, and read out when it changes."""
    return f'<div role="status" aria-live="polite">{html}</div>'


def opens(summary: str, html: str, attributes: str = "") -> str:
    """A line, HTML as well, that opens on `html` without a script. With the attribute ``open`` it is so at first."""
    begin = f"<details {attributes}>" if attributes else "<details>"
    return f'{begin}<summary style="cursor:pointer">{summary}</summary>{html}</details>'


def scrolled(html: str, label: str) -> str:
    """What may be wider than the page: it scrolls by itself, by keyboard as well. `label` says what it is."""
    look = f'class="{NO_MATH}" style="overflow-x:auto;max-width:100%"'
    return f'<div {look} tabindex="0" role="region" aria-label="{escape(label)}">{html}</div>'


def picture(svg: str) -> str:
    """An SVG among what has the colour of text: its ``currentColor``."""
    return f'<div style="color:{INK}">{svg}</div>'


def figures(head: str, body: str, label: str) -> str:
    """The figures of a picture, which open: `head` is the HTML of a row's cells, `body` that of the other rows."""
    table = f'<table style="{NUMBERS}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return opens("Figures", scrolled(table, label))
