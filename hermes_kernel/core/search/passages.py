"""Which facts are messages, and which messages are undone: the same for the index, the fresh tail and a reader.

`tell` takes the facts of one session one by one, so that indexing one more costs no more than its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hermes_kernel.core.events import (
    Accepted,
    Asked,
    Compressed,
    Final,
    Kept,
    Observed,
    Opened,
    Replied,
    Titled,
    Undone,
)
from hermes_kernel.core.learnt import LEARNING, LOOPS
from hermes_kernel.core.messages import ToolCall, User
from hermes_kernel.core.planned import RUN, SCHEDULE
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.text import scrub

SEARCHER = "session_search"
"""The tool whose results are excerpts of other conversations."""

SPOKEN = frozenset({"chat", RUN})
"""The kinds of sessions that are conversations: a person's, and a job's. The others work for one of these."""

BESIDE = frozenset({LEARNING, *LOOPS, SCHEDULE})
"""The kinds of sessions that are no conversations. What is said in them was said in those they look at, so a search
looks at none of it."""

STEPS: tuple[type[Kept], ...] = (Opened, Asked, Compressed, Undone)
"""The facts that `Telling` cannot do without, however long ago they were."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """The messages of a session from place ``since`` on, up to this fact, are undone. Titles stand."""

    session: str
    since: int


@dataclass(frozen=True, slots=True)
class Telling:
    """What must be remembered of a session to place its next fact. Given the session's `STEPS` and all facts since its
    last `Asked`, in order, it is as if it had been given them all."""

    session: str
    # where the turns begin that can still be taken back
    starts: tuple[int, ...] = ()
    # whether it is one of the kinds `BESIDE`
    beside: bool = False
    # the rest is `tell`'s own business: the calls that wait for a result (id to name), what the replies of this part
    # of the turn said, and a reply that was cut and may yet be accepted
    names: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    cut: tuple[int, float, Replied] | None = None


Told = tuple[Telling, tuple[Passage | Hidden, ...]]


def tell(telling: Telling, n: int, t: float, fact: Kept) -> Told:  # noqa: C901, PLR0911 - one arm for each fact that says something
    """What one more fact adds: passages, or the news that earlier ones are undone."""
    match fact:
        case Opened(kind=kind, transcript=copied):
            # the last prompt that was copied can be taken back, and all after it with it
            prompted = any(isinstance(message, User) for message in copied)
            return Telling(telling.session, (n,) if prompted else (), kind in BESIDE), ()
        case Titled(title, again):
            return telling, _said(telling, n, t, "title", "" if again else title)
        case Asked(text):
            asked = Telling(telling.session, (*telling.starts, n), telling.beside)
            return asked, (Passage(telling.session, n, t, "user", text),)
        case Replied(cut=True):
            return replace(telling, cut=(n, t, fact)), ()
        case Replied():
            return _replied(telling, n, t, fact)
        case Accepted() if telling.cut:
            return _replied(telling, *telling.cut)
        case Observed():
            return _observed(telling, n, t, fact)
        case Compressed():
            return replace(telling, starts=telling.starts[-1:]), ()
        case Final(_, text):
            return replace(telling, said="", cut=None), _said(telling, n, t, "assistant", _unsaid(telling.said, text))
        case Undone(turns):
            return _undone(telling, turns)
        case _:
            return telling, ()


def findable(passage: Passage) -> bool:
    """Whether a search looks at it: what a search has found once is found where it was said, and not there again."""
    return passage.tool != SEARCHER


def passages(session: str, facts: Iterable[tuple[int, float, Kept]]) -> tuple[Passage, ...]:
    """The messages of a session that stand, in order, from its facts with their places and times."""
    telling, standing = Telling(session), dict[int, Passage]()
    for n, t, fact in facts:
        telling, news = tell(telling, n, t, fact)
        for piece in news:
            match piece:
                case Passage():
                    standing[piece.n] = piece
                case Hidden(_, since):
                    standing = {n: kept for n, kept in standing.items() if n < since or kept.role == "title"}
    return tuple(standing.values())


def called(call: ToolCall) -> str:
    """A tool call as text: its name, and below it the arguments without the escapes of JSON, which would glue an ``n``
    to the first word of every line of code."""
    try:
        arguments = scrub(_plainly(json.loads(call.arguments)))
    except (ValueError, RecursionError):
        arguments = call.arguments
    return f"{call.name}\n{arguments}".rstrip()


def _plainly(value: object) -> str:
    match value:
        case str():
            return value
        case dict():
            return "\n".join(f"{key}: {_plainly(each)}" for key, each in value.items())
        case list():
            return "\n".join(map(_plainly, value))
        case _:
            return json.dumps(value)


def _replied(telling: Telling, n: int, t: float, reply: Replied) -> Told:
    """Replies that follow one another are one message; each is found by itself."""
    if not (reply.text.strip() or reply.calls):
        return replace(telling, cut=None), ()
    text = "\n".join((reply.text, *map(called, reply.calls)))
    names = {call.id: call.name for call in reply.calls}
    after = replace(telling, names=names, said=telling.said + reply.text, cut=None)
    return after, (Passage(telling.session, n, t, "assistant", text),)


def _observed(telling: Telling, n: int, t: float, seen: Observed) -> Told:
    """The result of a call that waits for one; any other belongs to nothing that was said."""
    tool = telling.names.get(seen.call_id)
    if tool is None:
        return telling, ()
    names = {call: name for call, name in telling.names.items() if call != seen.call_id}
    return replace(telling, names=names, said=""), (Passage(telling.session, n, t, "tool", seen.text, tool),)


def _undone(telling: Telling, turns: int) -> Told:
    """Take back the last turns; those before a compression are past taking back."""
    kept = max(len(telling.starts) - turns, 0)
    hidden = tuple(Hidden(telling.session, since) for since in telling.starts[kept : kept + 1])
    return Telling(telling.session, telling.starts[:kept], telling.beside), hidden


def _said(telling: Telling, n: int, t: float, role: str, text: str) -> tuple[Passage, ...]:
    return (Passage(telling.session, n, t, role, text),) if text.strip() else ()


def _unsaid(said: str, text: str) -> str:
    """What a turn's last words say that its replies have not."""
    return text.removeprefix(said) if said.strip() else text
