"""Asking for one row: a conversation of its own, its facts, and the world it happens in. Wherever that is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_kernel.core.commands import CallModel, Command
from hermes_kernel.core.events import Asked, Event, Failed, Kept, Leased, Opened, Replied, Undone
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.turn import Turn, closing, play, recall
from hermes_kernel.errors import HermesError
from hermes_kernel.limits import turn_limits
from hermes_kernel.settings import Settings
from hermes_kernel.world.compressing import Digester
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.ports import Clock, Model, Toolbox
from hermes_kernel.world.spec import guard
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tool, Tools, tool_of

Given = str | Tool | Callable[..., Any]
"""A tool as it is named to a map: a built-in by its name, or a function."""

ALONE = ("python", "terminal", "read_file", "write_file", "edit_file", "search_files", "todo")
"""Built-in tools that need no person and no conversation."""

CLOSING_WORDS = "closing words"
SPENT = "The calls of this row are spent."


@dataclass(frozen=True, slots=True)
class Ask:
    """One row, ready to be asked in session ``session_id``: what its conversation begins with, and how many model calls
    and seconds (0: any number) it may take."""

    session_id: str
    opened: Opened
    asked: Asked
    seconds: float = 0.0

    @property
    def facts(self) -> tuple[Kept, ...]:
        """A new conversation. Of several calls one is set aside for the closing words, so that all are within the
        lease."""
        lease = (Leased(CLOSING_WORDS, 1),) if self.asked.budget > 1 else ()
        return (self.opened, self.asked, *lease)

    @property
    def again(self) -> tuple[Kept, ...]:
        """The same in a session that has been asked before: what was said then is taken back."""
        return (Undone(), *self.facts[1:])


def tools_of(given: Sequence[Given], settings: Settings, clock: Clock) -> Tools:
    """The tools of a row. Nobody is there to approve anything.

    Raises:
        HermesError: a built-in is unknown, or needs a person.
        TypeError: a function cannot be a tool.
    """
    made = Tools(settings, person=None, home=settings.home, cwd=Path.cwd(), clock=clock)
    names = [each for each in given if isinstance(each, str)]
    if wrong := [name for name in names if name not in ALONE]:
        raise HermesError(f"A row cannot have the tool {', '.join(wrong)}. By name it can have: {', '.join(ALONE)}.")
    if names:
        made.builtins()
    own = [made.add(each).name for each in given if not isinstance(each, str)]
    return made.only([*names, *own])


def names_of(given: Sequence[Given]) -> str:
    """The tools' names, as a map's terms hold them."""
    return ",".join(each if isinstance(each, str) else tool_of(each).name for each in given)


@dataclass(frozen=True, slots=True)
class Means:
    """What rows are asked with. Tools are made anew for each, so that no row meets what another has left in them.
    ``waits`` is waited on before somebody is asked again (None: ``clock``); ``recorded`` has calls of tools recorded or
    replayed."""

    model: Model
    settings: Settings
    tools: tuple[Given, ...]
    clock: Clock
    waits: Clock | None = None
    recorded: Callable[[Toolbox], Toolbox] = lambda tools: tools

    def world(self, session_id: str, stop: Stop) -> Performer:
        """The world of one row."""
        tools = tools_of(self.tools, self.settings, self.clock)
        tools.begin_session(session_id)
        return Performer(self.model, self.recorded(tools), Digester(), self.waits or self.clock, stop)


async def ask(row: Ask, means: Means, stop: Stop) -> AsyncGenerator[Event, None]:
    """What happens after `row` was asked, to its end."""
    with stop.below() as own:
        world = _Bounded(means.world(row.session_id, own), row.asked.budget)
        turn = recall(row.facts, Turn(turn_limits(means.settings)))
        async with own.after(guard(means.clock), row.seconds), aclosing(play(turn, world)) as told:
            async for event in told:
                yield event


def given_up(row: Ask, facts: Sequence[Kept], by: str) -> tuple[Kept, ...]:
    """What ends a row that nobody waits for any more."""
    return closing(recall((*row.facts, *facts), Turn()), by)


class _Bounded:
    """A world in which no call is made beyond a row's lease, not even one for closing words."""

    def __init__(self, performer: Performer, calls: int) -> None:
        self._performer = performer
        self._left = calls

    async def perform(self, command: Command) -> AsyncGenerator[Event, None]:
        if isinstance(command, CallModel) and not self._left:
            yield Failed(Fault.FORMAT_ERROR, SPENT)
            return
        async with aclosing(self._performer.perform(command)) as told:
            async for event in told:
                self._left -= isinstance(event, Replied)
                yield event
