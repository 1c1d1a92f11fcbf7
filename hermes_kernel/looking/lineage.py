"""A conversation across its compressions: all of it in order, and what a summary in it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from hermes_kernel.core.compression.summary import is_summary, summary_text
from hermes_kernel.core.events import Compressed, Kept, Opened
from hermes_kernel.core.messages import Assistant, Message, Observation, Transcript, User
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.search.passages import called
from hermes_kernel.core.turn import recall
from hermes_kernel.errors import HermesError
from hermes_kernel.looking.conversations import conversation, facts_of, further
from hermes_kernel.view.kept.reading import BORDER, SUMMARY, UNKNOWN, Conversation
from hermes_kernel.world.store import Store


def whole(store: Store, name: str) -> Conversation:
    """The conversation that `name` is a session of, from its first message to its last.

    Raises:
        NoSession: there is none, or there are several.
        StoreError: the store cannot be read.
    """
    told = conversation(store, name)
    line = sessions_of(store, told.session)
    passages: list[Passage] = []
    for session in line:
        said = store.passages(session)
        if session != line[0]:
            passages.append(Passage(session, 0, said[0].t if said else told.started, BORDER, session))
        passages.extend(said)
    return replace(told, session=line[-1], passages=tuple(passages), parent=None, goes_on=False, further="")


def summarised(store: Store, name: str) -> Conversation:
    """The summary that the session `name` goes on from, and below it the messages that it stands for: those of an
    earlier summary in it, too.

    Raises:
        HermesError: there is no summary in it.
        NoSession: there is no such session, or there are several.
        StoreError: the store cannot be read.
    """
    told = conversation(store, name)
    summary, taken = _taken(store, facts_of(store, told.session))
    if summary is None:
        raise HermesError("There is no summary in this conversation: all of it is there word for word.")
    first = Passage(told.session, 0, UNKNOWN, SUMMARY, summary_text(summary))
    said = (_passage(told.session, n, message) for n, message in enumerate(taken, 1))
    return replace(told, passages=(first, *said))


def _taken(store: Store, known: Sequence[Kept], wanted: Message | None = None) -> tuple[User | None, Transcript]:
    """The last summary in these facts of a session, or the one that is `wanted`, and the messages it took the place of;
    None where there is none."""
    for at in range(len(known) - 1, -1, -1):
        match known[at]:
            case Compressed(transcript) if (found := _summary(transcript)) and wanted in (None, found[1]):
                where, summary = found
                before = recall(known[:at]).transcript
                taken = before[where : len(before) - (len(transcript) - where - 1)]
                if taken and is_summary(taken[0]):
                    taken = (*_taken(store, known[:at], taken[0])[1], *taken[1:])
                return summary, taken
            case Opened(parent=parent, transcript=transcript) if found := _summary(transcript):
                return _taken(store, facts_of(store, parent), wanted or found[1])
    return None, ()


def _summary(transcript: Transcript) -> tuple[int, User] | None:
    """The summary in it, and where it stands."""
    for where, message in enumerate(transcript):
        match message:
            case User(summary=True):
                return where, message
    return None


def _passage(session: str, n: int, message: Message) -> Passage:
    match message:
        case User(text):
            return Passage(session, n, UNKNOWN, "user", text)
        case Assistant(text, calls):
            return Passage(session, n, UNKNOWN, "assistant", "\n".join((text, *map(called, calls))).strip("\n"))
        case Observation(_, tool, text):
            return Passage(session, n, UNKNOWN, "tool", text, tool)


def sessions_of(store: Store, session: str) -> list[str]:
    """The sessions that the conversation with this one is made of, the first first.

    Raises:
        StoreError: the store cannot be read.
    """
    known = cache(partial(facts_of, store))  # reading a long session takes a good part of a second
    line = [session]
    while (parent := _parent(known(line[0]))) and further(known(parent)) == line[0] and parent not in line:
        line.insert(0, parent)
    while (then := further(known(line[-1]))) and then not in line and known(then):
        line.append(then)
    return line


def _parent(known: Sequence[Kept]) -> str:
    return next((fact.parent for fact in known if isinstance(fact, Opened)), "")
