"""The subagents of a turn in its picture: each from its lease to its return, and as a line below the call it works for.

Keeps true: once a turn is over, what is shown of a subagent follows from what was kept alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from hermes_kernel.core.events import Leased, Outcome, Returned
from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief
from hermes_kernel.view.turn.picture import Child, Picture
from hermes_kernel.view.turn.words import WAITING, Row, lasting

TASK = 72  # characters of a task in its line
MOST = 24  # subagents that are shown of one call; the rest are counted
LOST = "not finished"
NOBODY: Mapping[str, float] = MappingProxyType({})
INDENT = "  "


def leased(picture: Picture, event: Leased) -> Picture:
    """A subagent begins."""
    child = Child(event.lease, event.task, event.calls, Picture(event.calls), event.call_id)
    return replace(picture, children=(*picture.children, child))


def told(picture: Picture, lease: str, seeing: Callable[[Picture], Picture]) -> Picture:
    """Something happened in a subagent that is at work."""
    children = tuple(
        replace(child, picture=seeing(child.picture)) if child.lease == lease and not child.over else child
        for child in picture.children
    )
    return replace(picture, children=children)


def returned(picture: Picture, event: Returned) -> Picture:
    """A subagent is back, and what it spent is spent."""
    child = next((each for each in picture.at_work if each.lease == event.lease), None)
    usage = picture.usage + event.usage
    if child is None:
        return replace(picture, usage=usage)
    used = min(max(event.used, 0), child.granted)
    over = _over(child, event.outcome, used)
    children = tuple(over if each is child else each for each in picture.children)
    return replace(picture, children=children, calls=picture.calls + used, usage=usage)


def abandoned(picture: Picture) -> Picture:
    """The turn is over: whoever is not back is not waited for."""
    children = tuple(child if child.over else _over(child, None, 0) for child in picture.children)
    return replace(picture, children=children)


def _over(child: Child, outcome: Outcome | None, used: int) -> Child:
    return replace(child, over=True, outcome=outcome, used=used, picture=Picture(child.granted))


# --- in words ---------------------------------------------------------------------------------------------------------


def lines(picture: Picture, call_id: str, since: Mapping[str, float], most: int = MOST) -> Iterator[str]:
    """A line for each subagent of this call, and below it those of its own. `since` has the seconds for which a
    subagent, by its lease, has been at what it is at."""
    for child in _of(picture, call_id)[:most]:
        yield told_line(child, since.get(child.lease, 0.0))
        yield from (INDENT + below for below in every(child.picture, since))
    if (more := len(_of(picture, call_id)) - most) > 0:
        yield f"and {counted(more, 'more subagent')}"


def every(picture: Picture, since: Mapping[str, float]) -> Iterator[str]:
    """A line for each subagent, whatever call it works for."""
    for call_id in dict.fromkeys(child.call_id for child in picture.children):
        yield from lines(picture, call_id, since)


def by_row(
    picture: Picture, since: Mapping[str, float] = NOBODY, most: int = MOST
) -> Iterator[tuple[Row | None, tuple[str, ...]]]:
    """Each tool call with the lines of the subagents that work for it, of `most` of them; those that work for none come
    last."""
    last = {row.call_id: n for n, row in enumerate(picture.rows)}  # a careless provider uses ids again
    for n, row in enumerate(picture.rows):
        mine = picture.children and last[row.call_id] == n
        yield row, tuple(lines(picture, row.call_id, since, most)) if mine else ()
    strays = dict.fromkeys(child.call_id for child in picture.children if child.call_id not in last)
    yield None, tuple(line for call_id in strays for line in lines(picture, call_id, since, most))


def told_line(child: Child, seconds: float = 0.0) -> str:
    """One subagent: its task, what it is at or how it ended, and its calls."""
    task = brief(clean(child.task), TASK) or "a subagent"
    if not child.over:
        at = lasting(child.picture.status, seconds)
        return f"▸ {task}  {clean(at)}  {child.picture.calls} of {child.granted} calls"
    sign, words = ended(child)
    return f"{sign} {task}  {words.removeprefix('completed · ').replace(' · ', '  ')}"


def ended(child: Child) -> tuple[str, str]:
    """A sign, and how it ended in words."""
    if child.outcome is None:
        return "✗", LOST
    sign = "✓" if child.outcome is Outcome.COMPLETED else "✗"
    return sign, f"{child.outcome.words} · {child.used} of {child.granted} calls"


def descendants(picture: Picture) -> Iterator[Child]:
    """The subagents, theirs, and so on."""
    for child in picture.children:
        yield child
        yield from descendants(child.picture)


def doing(picture: Picture) -> str:
    """How many are at work, and whether one of them waits for the person."""
    out = picture.at_work
    if not out or picture.final:
        return ""
    words = f"{len(out)} of {counted(len(picture.children), 'subagent')} at work"
    waiting = sum(child.picture.status == WAITING for child in out)
    return f"{words}, {waiting} waiting for you" if waiting else words


def asking(picture: Picture) -> bool:
    """The turn, or a subagent of it, waits for the person."""
    return picture.status == WAITING or any(asking(child.picture) for child in picture.at_work)


def _of(picture: Picture, call_id: str) -> tuple[Child, ...]:
    return tuple(child for child in picture.children if child.call_id == call_id)
