"""The agent, without doing anything: a turn is a fold of facts.

`evolve` records a fact and decides nothing (`record`); `decide` is the whole policy and changes nothing (`policy`);
`play` alone waits. The log of a session is the session: fold it with `recall`, ask `decide`, and it goes on where it
stopped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from hermes_kernel.core.commands import Command, Tell
from hermes_kernel.core.events import Event, Interrupted, Kept, Opened, Outcome, Returned
from hermes_kernel.core.policy import decide
from hermes_kernel.core.record import evolve, recall
from hermes_kernel.core.state import Turn, said

__all__ = ["Turn", "World", "closing", "continued_in", "decide", "evolve", "play", "recall", "said"]


class World(Protocol):
    """Whatever carries commands out and tells what happened."""

    def perform(self, command: Command) -> AsyncGenerator[Event, None]:
        """The facts that carrying out `command` makes, as they happen. `Interrupted` is always the last."""
        ...


async def play(turn: Turn, world: World) -> AsyncGenerator[Event, None]:
    """Do what is decided, tell what happened, until there is nothing left to do."""
    while command := decide(turn):
        async with aclosing(world.perform(command)) as told:
            async for event in told:
                turn = evolve(turn, event)
                yield event


def closing(turn: Turn, by: str) -> tuple[Kept, ...]:
    """The facts that end a turn which something cut off; none when there is nothing left to do in it. Subagents that
    nobody heard of again count as if they had used all that they were lent."""
    if decide(turn) is None:
        return ()
    back = tuple(Returned(lease, calls, Outcome.INTERRUPTED) for lease, calls in turn.budget.leases)
    stop = Interrupted(by)
    command = decide(recall((*back, stop), turn))
    return (*back, stop, *(command.events if isinstance(command, Tell) else ()))


def continued_in(turn: Turn, opened: Opened) -> Turn:
    """The session that `opened` begins with what is known of the model from the one before it: how it counts, what it
    reads, which summary is being made. A resumed session learns that anew."""
    fill = replace(turn.fill.of(opened.transcript), compressed=False)
    return replace(evolve(Turn(turn.limits), opened), fill=fill)
