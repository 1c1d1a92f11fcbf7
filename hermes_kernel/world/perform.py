"""Carries commands out and tells what happened. Races every wait against the stop latch; decides nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from hermes_kernel.core.commands import CallModel, Command, Compress, RunTools, Tell, Wait
from hermes_kernel.core.events import Compressing, Event, Interrupted, Kept, Retrying, Waiting
from hermes_kernel.world.ports import Clock, Compressor, Model, Toolbox
from hermes_kernel.world.spec import steady
from hermes_kernel.world.stop import Stop, Stopped

JITTER = 0.25
"""Share by which a wait is shortened or lengthened by chance, so that many notebooks do not come back together."""


@dataclass(frozen=True, slots=True)
class Performer:
    """The world of one turn. Where it ``settles``, what is made beside the turn is waited for, as by a steady clock: it
    is to be used at the same place when it is replayed."""

    model: Model
    tools: Toolbox
    compressor: Compressor
    clock: Clock
    stop: Stop
    settles: bool = False

    async def perform(self, command: Command) -> AsyncGenerator[Event, None]:
        """The facts that carrying out `command` makes, as they happen."""
        if self.stop.by and not isinstance(command, Tell):
            yield Interrupted(self.stop.by)
            return
        async with aclosing(self._carry_out(command)) as told:
            async for event in told:
                yield event

    def _carry_out(self, command: Command) -> AsyncGenerator[Event, None]:
        match command:
            case CallModel(transcript):
                if news := self.compressor.ready(transcript):
                    return _tell((news,))
                return self.model.reply(command, self.tools.specs() if command.tools else (), self.stop)
            case RunTools(calls):
                return self.tools.run(calls, self.stop)
            case Wait():
                return self._wait(command)
            case Compress(ahead=True):
                return self._begin(command)
            case Compress():
                return self.compressor.compress(command, self.stop)
            case Tell(events):
                return _tell(events)

    async def _begin(self, ahead: Compress) -> AsyncGenerator[Event, None]:
        self.compressor.begin(ahead)
        yield Compressing(ahead.tokens)
        if self.settles or steady(self.clock):
            await self.compressor.settle(self.stop)

    async def _wait(self, wait: Wait) -> AsyncGenerator[Event, None]:
        swing = 1.0 if wait.exact else 1 - JITTER + 2 * JITTER * self.clock.chance()
        seconds = wait.seconds * swing
        yield Retrying(wait.attempt, wait.of, seconds, wait.fault)
        end = self.clock.elapsed() + seconds
        while (left := end - self.clock.elapsed()) > 0:
            yield Waiting(left)
            try:
                await self.stop.race(self.clock.sleep(min(left, 1.0)))
            except Stopped:
                yield Interrupted(self.stop.by)
                return


async def _tell(events: tuple[Kept, ...]) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event
