"""The fold behind a cell's output: `see(picture, event)` is the picture in which the event has been seen.

Keeps true: the final picture is the same whether or not the passing events were seen, and its text is what is stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hermes_kernel.core.events import (
    Accepted,
    Approved,
    Asked,
    Asking,
    CallDelta,
    Calling,
    Compressed,
    Compressing,
    Continued,
    Event,
    Failed,
    FellBack,
    Final,
    Interrupted,
    Kept,
    Leased,
    Lesson,
    Noticed,
    Observed,
    Opened,
    Passing,
    Refunded,
    Repaired,
    Replied,
    Retracted,
    Retrying,
    Returned,
    Silence,
    Spent,
    Started,
    Subagent,
    TextDelta,
    ThoughtDelta,
    Titled,
    Undone,
    Waiting,
    WindowFound,
)
from hermes_kernel.view.turn.blocks import close, grow
from hermes_kernel.view.turn.children import abandoned, leased, returned, told
from hermes_kernel.view.turn.detail import RESULT, extract
from hermes_kernel.view.turn.picture import MUSING, Picture
from hermes_kernel.view.turn.words import (
    COMPRESSING,
    SUMMARISING,
    THINKING,
    WAITING,
    WORKING,
    WRITING,
    Notice,
    Status,
    asked,
    calling,
    plainly,
    running,
    said_by,
    shortened,
    silent,
    waiting,
)


def see(picture: Picture, event: Event) -> Picture:
    """`picture` after `event`."""
    return _pass(picture, event) if isinstance(event, Passing | Subagent) else _keep(picture, event)


def _pass(picture: Picture, event: Passing | Subagent) -> Picture:  # noqa: C901, PLR0911 - one arm for each event there is
    """What is on its way; `_final` must not tell it from what never came."""
    match event:
        case TextDelta(text):
            return replace(picture, layout=grow(picture.layout, text), status=WRITING, silence=None)
        case ThoughtDelta(text):
            musing = (picture.musing + text)[-MUSING:]
            mused = picture.mused + len(text)
            return replace(picture, musing=musing, mused=mused, status=THINKING, silence=None)
        case CallDelta(name, characters):
            return replace(picture, status=calling(name, characters), silence=None)
        case Calling():
            return replace(picture, status=THINKING, retry=None, silence=None)
        case Silence():
            return replace(picture, status=silent(event, picture.status), silence=event)
        case Retracted():
            return replace(picture, layout=picture.base, silence=None)
        case Noticed(text):
            return _told(picture, text)
        case Asking():
            return replace(picture, status=WAITING, silence=None)
        case Waiting(seconds):
            return replace(picture, status=waiting(picture.retry, seconds), silence=None)
        case Subagent(lease, inner):
            return told(picture, lease, lambda below: _glimpse(below, inner))


def _told(picture: Picture, text: str) -> Picture:
    """A line worth showing. The turn itself waits for the summary of which one tells."""
    if text.startswith(SUMMARISING):
        return replace(picture, status=COMPRESSING, aside=text.partition(", ")[0], silence=None)
    return replace(picture, aside=text)


def _glimpse(below: Picture, event: Event) -> Picture:
    """What a subagent is at. Its words are for its parent, not for whoever watches: they are not kept."""
    match event:
        case TextDelta():
            return below if below.status == WRITING else replace(below, status=WRITING, silence=None)
        case ThoughtDelta():
            return below if below.status == THINKING else replace(below, status=THINKING, silence=None)
        case Replied():
            return see(below, replace(event, text="", thoughts=""))
        case _:
            return see(below, event)


def _keep(picture: Picture, event: Kept) -> Picture:  # noqa: C901, PLR0911, PLR0912 - one arm for each event there is
    """What happened, and stays."""
    match event:
        case Retrying():
            return replace(picture, status=waiting(event, event.seconds), retry=event, silence=None)
        case Replied():
            return _replied(picture, event)
        case Accepted():
            return _accept(picture, picture.cut) if picture.cut else picture
        case Failed(_, _, _, _, partial, usage):
            return replace(_reply(picture, partial), usage=picture.usage + usage, status=WORKING, silence=None)
        case Started(call_id):
            return _running(_row(picture, call_id, state="running"))
        case Observed():
            return _running(_observed(picture, event))
        case Approved():
            return _running(_row(picture, event.call_id, note=said_by(event)))
        case FellBack(_, fault):
            return _notice(picture, f"went on with the next model ({plainly(fault)})")
        case Compressing():
            return replace(picture, summarising=True)
        case Compressed():
            counted = replace(picture, usage=picture.usage + event.usage, summarising=False, aside="")
            return _notice(counted, *shortened(event))
        case Repaired():
            return _notice(picture, "sent again with plainer characters")
        case Refunded(calls):
            return replace(picture, calls=picture.calls - calls)
        case Interrupted():
            return _stopped(picture, event)
        case Final():
            return _final(picture, event)
        case Asked(_, _, _, budget):
            return Picture(budget or picture.limit, replayed=picture.replayed)
        case Spent(usage):
            return replace(picture, usage=picture.usage + usage)
        case Leased():
            return leased(picture, event)
        case Returned():
            return returned(picture, event)
        case Opened() | Continued() | Titled() | WindowFound() | Undone():
            return picture
        case Lesson():
            return picture


# --- text -------------------------------------------------------------------------------------------------------------


def _reply(picture: Picture, text: str, thoughts: str = "") -> Picture:
    """The present reply is `text`, whatever its pieces were."""
    layout = grow(picture.base, text) if text else picture.base
    return replace(picture, layout=layout, thoughts=picture.thoughts + thoughts, musing="", mused=0)


def _replied(picture: Picture, reply: Replied) -> Picture:
    """A whole reply. A cut one is asked for again: its text stands until then."""
    counted = picture.calls + min(picture.left, 1)  # the grace call is beyond the budget
    spent = replace(picture, calls=counted, usage=picture.usage + reply.usage, status=WORKING)
    spent = replace(spent, retry=None, silence=None)
    if reply.cut:
        return replace(_reply(spent, reply.text), cut=reply)
    return _accept(spent, reply)


def _accept(picture: Picture, reply: Replied) -> Picture:
    """The model's word: said for good, with the calls that follow from it."""
    thoughts = reply.thoughts.strip() + "\n\n" if reply.thoughts.strip() else ""
    said = _reply(picture, reply.text, thoughts)
    layout = close(said.layout) if reply.calls else said.layout
    opening = layout if reply.calls else said.opening
    rows = (*said.rows, *(asked(call) for call in reply.calls))
    return replace(said, layout=layout, base=layout, opening=opening, rows=rows, cut=None)


def _stopped(picture: Picture, event: Interrupted) -> Picture:
    shown = _reply(picture, event.partial) if event.partial else picture
    told = _notice(shown, "the time limit was reached") if event.by == "time" else shown
    return replace(told, usage=picture.usage + event.usage, status=Status("stopping"), silence=None)


def _final(picture: Picture, final: Final) -> Picture:
    """The last words win over what was seen before them, unless they were said already."""
    layout = picture.layout
    if final.text and not layout.text.rstrip().endswith(final.text.rstrip()):
        layout = grow(picture.opening, final.text)
    rows = tuple(replace(row, state="not run") if row.state in ("asked", "running") else row for row in picture.rows)
    ended = replace(abandoned(picture), layout=layout, rows=rows, musing="", mused=0, final=final)
    return replace(ended, aside="", status=Status(final.outcome), cut=None, summarising=False, silence=None)


# --- tools ------------------------------------------------------------------------------------------------------------


def _row(picture: Picture, call_id: str, **changes: Any) -> Picture:
    """The last row of `call_id` changed; ids may be used again by a careless provider."""
    for at in range(len(picture.rows) - 1, -1, -1):
        if picture.rows[at].call_id == call_id:
            row = replace(picture.rows[at], **changes)
            return replace(picture, rows=(*picture.rows[:at], row, *picture.rows[at + 1 :]))
    return picture


def _observed(picture: Picture, event: Observed) -> Picture:
    state = "ok" if event.ok else "failed"
    seen = {"result": extract(event.text, RESULT), "images": event.images}
    return _row(picture, event.call_id, state=state, seconds=event.seconds, **seen)


def _running(picture: Picture) -> Picture:
    return replace(picture, status=running(picture.rows))


def _notice(picture: Picture, text: str, figures: str = "") -> Picture:
    return replace(picture, notices=(*picture.notices, Notice(text, figures)), status=WORKING)
