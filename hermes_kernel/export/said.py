"""What was said and done in one turn, in order: pieces of text, and tool calls with what came of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hermes_kernel.core.events import Accepted, Final, Kept, Observed, Replied
from hermes_kernel.core.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Said:
    """The model's words up to the next tool call."""

    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """A tool call and its result; None when it was not run."""

    call: ToolCall
    seen: Observed | None = None


Piece = Said | Used


def pieces(events: Iterable[Kept]) -> tuple[Piece, ...]:
    """The pieces of one turn. Replies that go on with one another are one piece, a cut reply counts once it is
    accepted, and the turn's last words win over what was said since the last call, unless they were said already."""
    told: list[Piece] = []
    cut: Replied | None = None
    for event in events:
        match event:
            case Replied() if event.cut:
                cut = event
            case Replied():
                cut = None
                _say(told, event)
            case Accepted() if cut:
                _say(told, cut)
                cut = None
            case Observed():
                _see(told, event)
            case Final():
                _end(told, event.text)
    return tuple(piece for piece in told if isinstance(piece, Used) or piece.text.strip())


def _say(told: list[Piece], reply: Replied) -> None:
    last = told[-1] if told else None
    if isinstance(last, Said):
        told[-1] = Said(last.text + reply.text)
    else:
        told.append(Said(reply.text))
    told.extend(Used(call) for call in reply.calls)


def _see(told: list[Piece], seen: Observed) -> None:
    """The latest call of that id that waits for a result; a careless provider uses ids again."""
    for at in range(len(told) - 1, -1, -1):
        piece = told[at]
        if isinstance(piece, Used) and piece.call.id == seen.call_id and piece.seen is None:
            told[at] = replace(piece, seen=seen)
            return


def _end(told: list[Piece], text: str) -> None:
    words = text.rstrip()
    whole = "".join(piece.text for piece in told if isinstance(piece, Said)).rstrip()
    if not words or whole.endswith(words):
        return
    if isinstance(told[-1] if told else None, Said):
        told.pop()
    told.append(Said(text))
