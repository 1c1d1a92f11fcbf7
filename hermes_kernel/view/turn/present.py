"""What is going on in one line: as it is seen, with its seconds, and as it is read out, without them. Pure."""

from __future__ import annotations

from hermes_kernel.core.safe import escape
from hermes_kernel.core.text import dotted
from hermes_kernel.view.look import UNSEEN
from hermes_kernel.view.markup import dot, typed
from hermes_kernel.view.turn import children
from hermes_kernel.view.turn.picture import Picture
from hermes_kernel.view.turn.words import lasting

BESIDE = "summarising the older part beside this turn"


def status_line(picture: Picture, seconds: float = 0.0) -> str:
    """What is going on, in a few words; `seconds` are those since it began."""
    return _with_others(picture, lasting(picture.status, seconds))


def spoken_line(picture: Picture) -> str:
    """The same without what changes each second."""
    status = picture.status
    return _with_others(picture, (status.spoken or status.words).replace("`", ""))


def seen_html(words: str, tone: str = "") -> str:
    """A line that is seen. It ticks, so it is not read out."""
    return f'<div aria-hidden="true">{dot(tone)}{typed(escape(words))}</div>'


def heard_html(words: str) -> str:
    """A line that is read out."""
    return f'<div role="status" aria-live="polite" style="{UNSEEN}">{escape(words)}</div>'


def _with_others(picture: Picture, words: str) -> str:
    summarising = BESIDE if picture.summarising else ""
    return dotted(words, children.doing(picture), picture.aside, summarising)
