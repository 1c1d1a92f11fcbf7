"""What a whole log says beside the turn that it folds to."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.events import Asked, Compressed, Kept, Titled, Undone
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
