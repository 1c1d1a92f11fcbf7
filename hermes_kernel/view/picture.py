"""The fold behind a cell's output: `see(picture, event)` is the picture in which the event has been seen.

Keeps true: the final picture is the same whether or not the passing events were seen, and its text is what is stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from hermes_kernel.core.events import (
    Accepted,
    Approved,
    Asked,
    Asking,
    CallDelta,
    Calling,
    Compressed,
    Event,
    Failed,
    FellBack,
    Final,
    Interrupted,
    Leased,
    Noticed,
    Observed,
    Opened,
    Refunded,
    Repaired,
    Replied,
    Retracted,
    Retrying,
    Returned,
    Silence,
    Started,
    TextDelta,
    ThoughtDelta,
    Titled,
    Undone,
    Waiting,
)
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.core.text import brief
from hermes_kernel.view.blocks import Layout, close, grow

ARGUMENTS = 88  # characters of a call's arguments in its row
HEARD = 2.0  # seconds of silence within a stream that are nothing to speak of
PATIENT = 20.0  # seconds of thinking after which the limit is worth knowing


@dataclass(frozen=True, slots=True)
class Row:
    """One tool call. ``state`` is ``asked``, ``running``, ``ok``, ``failed`` or ``not run``; ``note`` says who allowed
    or refused it. Seconds are of elapsed time, known once it has ended."""

    call_id: str
    name: str
    arguments: str
    state: str = "asked"
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What is going on. ``ticks``: the seconds since it began belong behind it. ``tone`` is ``busy``, ``slow``
    (something is in the way) or ``person`` (it is your turn)."""

    words: str
    ticks: bool = False
    tone: str = "busy"


BLANK = Layout()
THINKING = Status("thinking", ticks=True)
WRITING = Status("writing")
WORKING = Status("working", ticks=True)
WAITING = Status("waiting for you", ticks=True, tone="person")


@dataclass(frozen=True, slots=True)
class Picture:
    """What there is to see of one turn. ``limit`` is its iteration budget.

    ``layout`` holds the text; ``opening`` is the layout before the answer at hand, ``base`` the one before the present
    reply, to which a withdrawn reply goes back. ``pondered`` is where the present reply's thoughts begin.
    """

    limit: int
    layout: Layout = BLANK
    opening: Layout = BLANK
    base: Layout = BLANK
    status: Status = WORKING
    rows: tuple[Row, ...] = ()
    thoughts: str = ""
    pondered: int = 0
    notices: tuple[str, ...] = ()
    aside: str = ""
    retry: Retrying | None = None
    cut: Replied | None = None
    calls: int = 0
    usage: Usage = Usage()
    final: Final | None = None

    @property
    def blocks(self) -> tuple[str, ...]:
        """Finished Markdown, never to change unless it is withdrawn."""
        return self.layout.blocks

    @property
    def tail(self) -> str:
        """Markdown still being written. ``blocks`` and ``tail`` joined are ``text``."""
        return self.layout.tail

    @property
    def text(self) -> str:
        """Everything the model has said in this turn, as far as it stands."""
        return self.layout.text


def see(picture: Picture, event: Event) -> Picture:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one arm for each event there is
    """`picture` after `event`."""
    match event:
        case TextDelta(text):
            return replace(picture, layout=grow(picture.layout, text), status=WRITING)
        case ThoughtDelta(text):
            return replace(picture, thoughts=picture.thoughts + text, status=THINKING)
        case CallDelta(name, characters):
            return replace(picture, status=Status(f"writing a call of {name}, {characters:,} characters"))
        case Calling():
            return replace(picture, status=THINKING, retry=None)
        case Silence():
            return _silent(picture, event)
        case Retracted():
            return replace(picture, layout=picture.base)
        case Noticed(text):
            return replace(picture, aside=text)
        case Asking():
            return replace(picture, status=WAITING)
        case Retrying():
            return replace(picture, status=_wait(event, event.seconds), retry=event)
        case Waiting(seconds):
            return replace(picture, status=_wait(picture.retry, seconds))
        case Replied():
            return _replied(picture, event)
        case Accepted():
            return _accept(picture, picture.cut) if picture.cut else picture
        case Failed(_, _, _, _, partial, usage):
            return replace(_reply(picture, partial), usage=picture.usage + usage, status=WORKING)
        case Started(call_id):
            return _running(_row(picture, call_id, state="running"))
        case Observed(call_id, _, ok, seconds):
            return _running(_row(picture, call_id, state="ok" if ok else "failed", seconds=seconds))
        case Approved(call_id, allowed, by, scope):
            note = f"{'allowed' if allowed else 'refused'} by {by}" + (f" ({scope})" if allowed else "")
            return _running(_row(picture, call_id, note=note))
        case FellBack(_, fault):
            return _notice(picture, f"went on with the next model ({_words(fault)})")
        case Compressed(_, before, after):
            return _notice(picture, f"conversation shortened from {before:,} to {after:,} tokens")
        case Repaired():
            return _notice(picture, "sent again with plainer characters")
        case Refunded(calls):
            return replace(picture, calls=picture.calls - calls)
        case Interrupted(_, partial, usage):
            shown = _reply(picture, partial) if partial else picture
            return replace(shown, usage=picture.usage + usage, status=Status("stopping"))
        case Final():
            return _final(picture, event)
        case Asked(_, _, _, budget):
            return Picture(budget or picture.limit)
        case Opened() | Titled() | Leased() | Returned() | Undone():
            return picture


# --- text -------------------------------------------------------------------------------------------------------------


def _reply(picture: Picture, text: str, thoughts: str = "") -> Picture:
    """The present reply is `text`, whatever its pieces were."""
    layout = grow(picture.base, text) if text else picture.base
    pondered = picture.thoughts[: picture.pondered] + thoughts
    return replace(picture, layout=layout, thoughts=pondered)


def _replied(picture: Picture, reply: Replied) -> Picture:
    """A whole reply. A cut one is asked for again: its text stands until then."""
    counted = min(picture.calls + 1, max(picture.limit, picture.calls))
    spent = replace(picture, calls=counted, usage=picture.usage + reply.usage, status=WORKING, retry=None)
    if reply.cut:
        return replace(_reply(spent, reply.text), cut=reply)
    return _accept(spent, reply)


def _accept(picture: Picture, reply: Replied) -> Picture:
    """The model's word: said for good, with the calls that follow from it."""
    thoughts = reply.thoughts.strip() + "\n\n" if reply.thoughts.strip() else ""
    said = _reply(picture, reply.text, thoughts)
    layout = close(said.layout) if reply.calls else said.layout
    opening = layout if reply.calls else said.opening
    rows = (*said.rows, *(_asked(call) for call in reply.calls))
    pondered = len(said.thoughts)
    return replace(said, layout=layout, base=layout, opening=opening, rows=rows, pondered=pondered, cut=None)


def _final(picture: Picture, final: Final) -> Picture:
    """The last words win over what was seen before them, unless they were said already."""
    layout = picture.layout
    if final.text and not layout.text.rstrip().endswith(final.text.rstrip()):
        layout = grow(picture.opening, final.text)
    rows = tuple(replace(row, state="not run") if row.state in ("asked", "running") else row for row in picture.rows)
    thoughts = picture.thoughts[: picture.pondered]
    over = Status(final.outcome)
    return replace(picture, layout=layout, rows=rows, thoughts=thoughts, final=final, aside="", status=over, cut=None)


# --- tools ------------------------------------------------------------------------------------------------------------


def _asked(call: ToolCall) -> Row:
    return Row(call.id, call.name, in_brief(call.arguments))


def in_brief(arguments: str) -> str:
    """A call's arguments on one line: the value alone where there is but one."""
    try:
        values = json.loads(arguments or "{}")
    except ValueError:
        return brief(arguments, ARGUMENTS)
    if not isinstance(values, dict):
        return brief(arguments, ARGUMENTS)
    if len(values) == 1:
        return brief(_value(next(iter(values.values()))), ARGUMENTS)
    return brief(", ".join(f"{name}={_value(value)}" for name, value in values.items()), ARGUMENTS)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _row(picture: Picture, call_id: str, **changes: Any) -> Picture:
    """The last row of `call_id` changed; ids may be used again by a careless provider."""
    for at in range(len(picture.rows) - 1, -1, -1):
        if picture.rows[at].call_id == call_id:
            row = replace(picture.rows[at], **changes)
            return replace(picture, rows=(*picture.rows[:at], row, *picture.rows[at + 1 :]))
    return picture


def _running(picture: Picture) -> Picture:
    names = [row.name for row in picture.rows if row.state == "running"]
    if not names:
        return replace(picture, status=WORKING)
    words = f"tool {names[0]}" if len(names) == 1 else f"{len(names)} tools: {brief(', '.join(names), 60)}"
    return replace(picture, status=Status(words, ticks=True))


# --- waiting ----------------------------------------------------------------------------------------------------------


def _silent(picture: Picture, silence: Silence) -> Picture:
    seconds, limit = int(silence.seconds), int(silence.limit)
    match silence.kind:
        case "queued":
            return replace(picture, status=Status(f"queued by the provider, {seconds} s", tone="slow"))
        case "stream" if silence.seconds >= HEARD:
            return replace(picture, status=Status(f"silent {seconds} of {limit} s", tone="slow"))
        case "first_byte" if silence.seconds >= PATIENT:
            return replace(picture, status=Status(f"no answer yet, {seconds} of {limit} s", tone="slow"))
    return picture


def _wait(retry: Retrying | None, seconds: float) -> Status:
    if retry is None:
        return Status(f"waiting {seconds:.0f} s", tone="slow")
    words = f"retrying {retry.attempt} of {retry.of} in {seconds:.0f} s ({_words(retry.fault)})"
    return Status(words, tone="slow")


def _words(fault: str) -> str:
    return str(fault).replace("_", " ")


def _notice(picture: Picture, text: str) -> Picture:
    return replace(picture, notices=(*picture.notices, text), status=WORKING)
