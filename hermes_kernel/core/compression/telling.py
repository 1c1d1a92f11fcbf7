"""The middle of a conversation as text for the summariser, in pieces that fit its window. No message is lost, none can
pass for another or for the request: what was said is quoted line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from hermes_kernel.core.compression.clipping import clip
from hermes_kernel.core.compression.planning import Plan
from hermes_kernel.core.compression.summary import is_summary
from hermes_kernel.core.compression.template import QUOTE
from hermes_kernel.core.compression.weight import tokens
from hermes_kernel.core.messages import Assistant, Image, Message, Observation, ToolCall, Transcript, User
from hermes_kernel.core.text import brief

LEAST_ROOM = 200
SAID, RESULT, ARGUMENTS, PROMPT = 6_000, 3_000, 1_500, 1_000
"""Characters kept of what was said, of a result, of a call's arguments, of the prompt that is told for orientation."""
NAME = 40
TIGHTER = 0.6
"""Lines beside each other can weigh up to 1.6 times what they weigh alone, for accents make their neighbours dearer."""


@dataclass(frozen=True, slots=True)
class _Told:
    """Who said it, and what, in lines."""

    who: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """One line, the ``n``-th of a message; none of the text for a message that has none."""

    told: _Told
    n: int
    text: str

    def cost(self, *, opens: bool) -> int:
        """Tokens; with the line that says who, where the line `opens` a piece or its message."""
        head = tokens(self.told.who) + 4 if opens or self.n == 0 else 0
        return head + tokens(self.text) + 1


def pieces(transcript: Transcript, plan: Plan, room: int) -> tuple[str, ...]:
    """What `plan` takes out of `transcript` as text, in order, each piece of at most `room` tokens and none empty.

    Raises: ValueError: `room` is under 200.
    """
    if room < LEAST_ROOM:
        raise ValueError(f"a piece needs room for {LEAST_ROOM} tokens, not {room}")
    messages = (list(_lines(told, room // 5)) for told in _all(transcript, plan))
    return tuple(text for piece in _packed(messages, room) for text in _fitting(piece, room))


def _all(transcript: Transcript, plan: Plan) -> Iterator[_Told]:
    """The prompt that is being worked on, for it explains the rest, then every message that is taken out."""
    if plan.prompt is not None and isinstance(prompt := transcript[plan.prompt], User):
        yield _Told("(the request at hand; it stays in the conversation) user:", _split(clip(prompt.text, PROMPT)))
    for n, message in enumerate(transcript[plan.head : plan.tail], plan.head):
        if n != plan.pinned and not is_summary(message):
            yield from _told(n + 1, message)


def _told(n: int, message: Message) -> Iterator[_Told]:
    match message:
        case User(text, images):
            yield _Told(f"[{n}] user:", (*_split(clip(text, SAID)), *map(_named, images)))
        case Observation(_, name, text, ok, images):
            how = "ok" if ok else "failed"
            yield _Told(f"[{n}] result of {_tool(name)}, {how}:", (*_split(clip(text, RESULT)), *map(_named, images)))
        case Assistant(text, calls):
            if text:
                yield _Told(f"[{n}] assistant:", _split(clip(text, SAID)))
            yield from (_Told(f"[{n}] assistant calls {_tool(call.name)}:", _asked(call)) for call in calls)


def _asked(call: ToolCall) -> tuple[str, ...]:
    flaw = (f"(not run: {brief(call.flaw, 200)})",) if call.flaw else ()
    return (*_split(clip(call.arguments, ARGUMENTS)), *flaw)


def _split(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


def _tool(name: str) -> str:
    return brief(name, NAME) or "(no name)"


def _named(image: Image) -> str:
    return f"[image: {brief(image.mime, NAME)}]"


def _lines(told: _Told, width: int) -> Iterator[_Line]:
    """The lines of a message, none longer than `width`."""
    if not told.lines:
        yield _Line(told, 0, "")
    parts = (line[at : at + width] for line in told.lines for at in range(0, len(line), width))
    yield from (_Line(told, n, QUOTE + part) for n, part in enumerate(parts))


def _packed(messages: Iterable[list[_Line]], room: float) -> Iterator[list[_Line]]:
    """Pieces of lines. A message that fits into the piece at hand is weighed at once, others line by line."""
    piece: list[_Line] = []
    used = 0
    for lines in messages:
        whole = tokens(_written(lines)) + 1
        if used + whole <= room:
            piece += lines
            used += whole
            continue
        for line in lines:
            if piece and used + line.cost(opens=False) > room:
                yield piece
                piece, used = [], 0
            used += line.cost(opens=not piece)
            piece.append(line)
    if piece:
        yield piece


def _fitting(piece: list[_Line], room: int) -> Iterator[str]:
    """The piece as text, or as several when its lines weigh more together than alone."""
    text = _written(piece)
    if tokens(text) <= room:
        yield text
    else:
        yield from map(_written, _packed(([line] for line in piece), room * TIGHTER))


def _written(piece: list[_Line]) -> str:
    out: list[str] = []
    for _, group in groupby(piece, key=lambda line: id(line.told)):
        first, *rest = group
        out += [first.told.who if first.n == 0 else f"{first.told.who} (continued)"]
        out += [line.text for line in (first, *rest) if line.text]
    return "\n".join(out)
