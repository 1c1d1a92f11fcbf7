"""What a running call may tell while it runs, and how it asks a person: the question is an event before it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hermes_kernel.core.events import Asking, Event
from hermes_kernel.world.ports import Person
from hermes_kernel.world.stop import Stop

if TYPE_CHECKING:
    from hermes_kernel.world.tools.registry import Tools

PATIENCE = 3600.0  # seconds a person may take; the same as the original's


@dataclass(frozen=True, slots=True)
class Speaker:
    """One call's voice, and what it is part of: the turn's latch, and the ``tools`` the turn may use. ``tell`` returns
    when whoever plays the turn has taken the event (a kept one is on disk), or nobody will any more."""

    call_id: str
    tell: Callable[[Event], Awaitable[None]]
    stop: Stop
    tools: Tools


SPEAKER: ContextVar[Speaker] = ContextVar("speaker")

_floors: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


def the_floor() -> asyncio.Lock:
    """Whoever holds it may ask the person: one question at a time, an agent's and its subagents' alike."""
    return _floors.setdefault(asyncio.get_running_loop(), asyncio.Lock())


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
