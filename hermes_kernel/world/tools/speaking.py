"""What a running call may tell while it runs, and how it asks a person: the question is an event before it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from hermes_kernel.core.events import Asking, Event
from hermes_kernel.world.ports import Person

PATIENCE = 3600.0  # seconds a person may take; the same as the original's


@dataclass(frozen=True, slots=True)
class Speaker:
    """One call's voice. ``tell`` returns when whoever plays the turn has taken the event (a kept one is on disk)."""

    call_id: str
    tell: Callable[[Event], Awaitable[None]]


SPEAKER: ContextVar[Speaker] = ContextVar("speaker")


async def ask_person(person: Person, question: str, choices: Sequence[str] = ()) -> str | None:
    """The person's answer; None when nobody is there, or nobody answered within an hour."""
    if not person.present:
        return None
    speaker = SPEAKER.get(None)
    if speaker:
        await speaker.tell(Asking(speaker.call_id, question, tuple(choices)))
    try:
        return await asyncio.wait_for(person.ask(question, choices), PATIENCE)
    except TimeoutError:
        return None
