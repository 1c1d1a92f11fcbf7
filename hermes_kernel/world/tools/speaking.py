"""What a running call may tell while it runs, and how it asks a person: the question is an event before it is asked,
and what it waits for an answer is the setting's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hermes_kernel.core.events import Asking, Event
from hermes_kernel.core.question import Question
from hermes_kernel.world.ports import Clock, Person
from hermes_kernel.world.spec import guard
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools.aloud import at_once

if TYPE_CHECKING:
    from hermes_kernel.world.tools.registry import Tools

UNHURRIED = 3650 * 86_400.0  # seconds: the deadline of a tool that asks a person, which its question has already


@dataclass(frozen=True, slots=True)
class Speaker:
    """One call's voice, and what it is part of: the turn's latch, and the ``tools`` the turn may use. ``tell`` returns
    when whoever plays the turn has taken the event (a kept one is on disk), or nobody will any more. ``floor`` returns
    when it may speak of its work: at once, or in a spec when no call before it does."""

    call_id: str
    tell: Callable[[Event], Awaitable[None]]
    floor: Callable[[], Awaitable[None]]
    stop: Stop
    tools: Tools


SPEAKER: ContextVar[Speaker] = ContextVar("speaker")

_floors: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


def the_floor() -> asyncio.Lock:
    """Whoever holds it may ask the person: one question at a time, an agent's and its subagents' alike."""
    return _floors.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def ask_person(person: Person, question: Question) -> str | None:
    """The person's answer; None when nobody is there, or nobody answered in the time that the settings give."""
    if not person.present:
        return None
    with at_once():
        return await _asked(person, question)


async def _asked(person: Person, question: Question) -> str | None:
    speaker = SPEAKER.get(None)
    if speaker is None:
        return await person.ask(question)
    asked = replace(question, seconds=speaker.tools.settings.answer_seconds)
    await speaker.tell(Asking(speaker.call_id, asked.whole, asked.choices, asked.seconds, asked.default))
    return await _in_time(person, asked, speaker.tools.clock)


async def _in_time(person: Person, question: Question, clock: Clock) -> str | None:
    """The answer, if it comes before the question's time is over. A question that is given up is gone when this
    returns."""
    if not question.seconds:
        return await person.ask(question)
    answering = asyncio.ensure_future(person.ask(question))
    late = asyncio.ensure_future(_at_its_end(clock, question.seconds, answering))
    try:
        return await answering
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not late.done() or (task is not None and task.cancelling()):
            raise
        return None
    finally:
        late.cancel()


async def _at_its_end(clock: Clock, seconds: float, answering: asyncio.Future[str | None]) -> None:
    await guard(clock)(seconds)
    answering.cancel()
