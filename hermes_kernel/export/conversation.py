"""A session as it is told again: who, where and when, and the turns that stand. Turns taken back are not among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hermes_kernel.core.events import Asked, Final, Kept, Observed, Opened, Outcome, Replied, Titled, Undone
from hermes_kernel.core.messages import Assistant, Message, Observation, Transcript, User
from hermes_kernel.core.text import brief
from hermes_kernel.export.prompts import own_words
from hermes_kernel.world.store.records import Record, facts

TITLE = 80  # characters of a prompt that stands for a title


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn: its prompt, the facts that followed, and when it was asked (seconds since 1970-01-01 UTC). An
    ``inherited`` one was lived in the session this one was branched from: its messages are known, nothing else. Where
    there is a ``summary``, nobody asked: it stands for earlier messages, and what follows it was said after those."""

    asked: Asked
    events: tuple[Kept, ...] = ()
    at: float = 0.0
    inherited: bool = False
    summary: User | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session. ``inherited`` turns come before ``turns``; times are seconds since 1970-01-01 UTC."""

    session: str
    title: str
    opened: Opened
    started: float
    active: float
    inherited: tuple[Exchange, ...] = ()
    turns: tuple[Exchange, ...] = ()


def conversations(sessions: Iterable[Sequence[Record]]) -> tuple[Conversation, ...]:
    """Each session's records, in order, as a conversation."""
    return tuple(_conversation(records) for records in sessions)


def _conversation(records: Sequence[Record]) -> Conversation:
    session = records[0].session
    known = [(record.t, fact) for record in records for fact in facts([record])]
    opened = next((fact for _, fact in known if isinstance(fact, Opened)), Opened(session))
    turns, further = _standing(known)
    inherited = _inherited(opened.transcript)
    inherited = inherited[:-1] if further and inherited and inherited[-1].summary is None else inherited
    times = [record.t for record in records]
    return Conversation(session, _title(known, (*turns, *inherited)), opened, min(times), max(times), inherited, turns)


def _title(known: Sequence[tuple[float, Kept]], turns: Sequence[Exchange]) -> str:
    """The last name it was given, or the first prompt."""
    given = [fact.title for _, fact in known if isinstance(fact, Titled) and fact.title.strip()]
    asked = [own_words(turn.asked.text)[1] for turn in turns if turn.summary is None][:1]
    return brief((given[-1:] or asked or [""])[0], TITLE) or "Untitled session"


def _standing(known: Iterable[tuple[float, Kept]]) -> tuple[tuple[Exchange, ...], bool]:
    """The turns that stand, and whether the last one before them was taken back too."""
    turns: list[Exchange] = []
    further = False
    for t, fact in known:
        match fact:
            case Asked():
                turns.append(Exchange(fact, (), t))
            case Undone(count):
                further = further or count > len(turns)
                del turns[max(len(turns) - max(count, 0), 0) :]
            case Opened() | Titled():
                pass
            case _ if turns:
                turns[-1] = replace(turns[-1], events=(*turns[-1].events, fact))
    return tuple(turns), further


def _inherited(transcript: Transcript) -> tuple[Exchange, ...]:
    """The turns of a transcript. What stands before its first prompt belongs to none."""
    starts = [n for n, message in enumerate(transcript) if isinstance(message, User)]
    return tuple(_lived(transcript[start:end]) for start, end in pairwise([*starts, len(transcript)]))


def _lived(messages: Transcript) -> Exchange:
    prompt = messages[0]
    summary = prompt if isinstance(prompt, User) and prompt.summary else None
    asked = Asked(prompt.text, prompt.images if isinstance(prompt, User) else ()) if summary is None else Asked("")
    events = [_event(message) for message in messages[1:]]
    last = messages[-1]
    if isinstance(last, Assistant) and last.text.strip() and not last.calls:
        events.append(Final(Outcome.COMPLETED, last.text))
    return Exchange(asked, tuple(events), inherited=True, summary=summary)


def _event(message: Message) -> Kept:
    match message:
        case Observation(call_id, _, text, ok, images):
            return Observed(call_id, text, ok, images=images)
        case Assistant(text, calls, thoughts):
            return Replied(text, calls, thoughts=thoughts)
        case User(text, images):
            return Asked(text, images)
