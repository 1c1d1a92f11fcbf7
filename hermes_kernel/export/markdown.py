"""Sessions as a Markdown document: prompts quoted, answers as they are, tool calls folded away, how each turn ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from hermes_kernel.core.compression.summary import stands_for, summary_text
from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.messages import Image, User
from hermes_kernel.core.safe import clean, sanitise
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.export.conversation import Conversation, Exchange
from hermes_kernel.export.marks import arguments, fence, fold, heading, quote, span, words
from hermes_kernel.export.prompts import own_words
from hermes_kernel.export.said import Said, Used, pieces
from hermes_kernel.view import Picture, cost_line, see
from hermes_kernel.view.turn.words import in_brief

LIMIT = 90  # model calls of a turn whose own limit is not known; the setting's default


def markdown(sessions: Sequence[Conversation]) -> str:
    """Each session under a heading of its own. What is told elsewhere in the document is not told again."""
    here = {each.session for each in sessions}
    blocks = (block for each in sessions for block in _session(each, told=each.opened.parent in here))
    return "\n\n".join(blocks) + "\n"


def about(session: Conversation) -> str:
    """What and whence, in one line."""
    opened = session.opened
    parts = [
        f"Session {span(session.session)}",
        *([f"from {span(opened.notebook)}"] if opened.notebook else []),
        *([f"asked {span(opened.model)}"] if opened.model else []),
        " to ".join(dict.fromkeys((minute(session.started), minute(session.active)))),
        *([f"goes on from {span(opened.parent)}"] if opened.parent else []),
    ]
    return " · ".join(parts)


def picture(turn: Exchange) -> Picture:
    """What there was to see of a turn."""
    return reduce(see, turn.events, Picture(turn.asked.budget or LIMIT))


def used(turn: Exchange) -> tuple[str, ...]:
    """Each tool call of a turn, folded."""
    return tuple(_call(piece) for piece in pieces(turn.events) if isinstance(piece, Used))


def summed(summary: User) -> str:
    """A summary, folded: it is nobody's words."""
    return fold(f"Summary of {counted(stands_for(summary), 'earlier message')}", quote(summary_text(summary)))


def with_images(images: Sequence[Image]) -> str:
    """That pictures went with a prompt; empty when none did."""
    if not images:
        return ""
    kinds = ", ".join(words(image.mime) for image in images)
    return f"*with {counted(len(images), 'image')}: {kinds}*"


def _session(session: Conversation, *, told: bool) -> Iterator[str]:
    yield f"# {heading(session.title)}"
    yield f"*{about(session)}*"
    turns = session.turns if told else (*session.inherited, *session.turns)
    for turn in turns:
        yield from _turn(turn)


def _turn(turn: Exchange) -> Iterator[str]:
    yield "---"
    if turn.summary is not None:
        yield summed(turn.summary)
        yield from (_piece(piece) for piece in pieces(turn.events))
        return
    yield f"**You** · {minute(turn.at)}" if turn.at else "**You**"
    skills, said = own_words(turn.asked.text)
    yield from (f"*with the skill {span(name)}*" for name in skills)
    yield from _given(quote(said) if said else "", with_images(turn.asked.images))
    yield "**Hermes**"
    yield from (_piece(piece) for piece in pieces(turn.events))
    if not turn.inherited:
        yield from _ending(picture(turn))


def _piece(piece: Said | Used) -> str:
    return sanitise(piece.text).strip() if isinstance(piece, Said) else _call(piece)


def _call(used: Used) -> str:
    call, seen = used.call, used.seen
    state = "not run" if seen is None else "" if seen.ok else "failed"
    summary = dotted(call.name, brief(clean(in_brief(call.arguments)), 88), state)
    result = () if seen is None else (fence(seen.text), with_images(seen.images))
    return fold(summary, *_given(arguments(call.name, call.arguments), *result))


def _ending(seen: Picture) -> Iterator[str]:
    if seen.final and seen.final.reason:
        yield f"*{words(seen.final.reason)}*"
    yield f"*{cost_line(seen)}*"


def _given(*blocks: str) -> Iterable[str]:
    return (block for block in blocks if block)
