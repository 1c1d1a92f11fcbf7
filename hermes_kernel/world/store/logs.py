"""What a whole log says beside the turn that it folds to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from hermes_kernel.core.events import Asked, Compressed, Continued, Kept, Titled, Undone
from hermes_kernel.world.ports import Log
from hermes_kernel.world.store.places import NoSession
from hermes_kernel.world.store.threads import called


def standing(facts: Iterable[Kept]) -> list[int]:
    """Where the turns begin that were not undone. Those before a compression are past taking back."""
    starts: list[int] = []
    past = 0
    for at, fact in enumerate(facts):
        match fact:
            case Asked():
                starts.append(at)
            case Compressed():
                past = max(len(starts) - 1, 0)
            case Undone(turns):
                del starts[max(len(starts) - turns, past) :]
    return starts


def title(facts: Iterable[Kept]) -> str:
    """What a conversation is called: the last name it was given, or its first prompt."""
    name = ""
    for fact in facts:
        match fact:
            case Titled(given):
                name = given
            case Asked(text) if not name:
                name = called(text)
    return name


def line(log: Log, session_id: str) -> list[str]:
    """A session and those in which it goes on since it was compressed, to the newest that is there.

    Raises:
        NoSession: there is no such session.
        StoreError: the log cannot be read.
    """
    names, last = [session_id], log.recall(session_id)[-1]
    with suppress(NoSession):
        while isinstance(last, Continued) and last.session_id not in names:
            further = log.recall(last.session_id)
            names.append(last.session_id)
            last = further[-1]
    return names
