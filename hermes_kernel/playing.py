"""One turn at a time: plays it in its world, until it is over, its time is up, or somebody stops it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from enum import Enum

from hermes_kernel.core.events import Asked, Event
from hermes_kernel.core.text import scrub
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError, explained, in_a_line
from hermes_kernel.lineage import Lineage
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.ports import Beside
from hermes_kernel.world.spec import guard, turn_begins
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError


class Work(Enum):
    """What an agent is at, one thing at a time: as a person calls it, and what is left of it when it is interrupted."""

    ASK = "ask", "The conversation is kept; the next prompt goes on from here."
    COMPRESS = "compress", "The conversation is as it was."
    DELEGATE = "delegate", "What the subagents had done until then is in their sessions: `%hermes sessions all`."
    MAP = "map", "What was answered is kept: map again in the same way to go on with the other rows."

    def __init__(self, called: str, left: str) -> None:
        self.called = called
        self.left = left


class Player:
    """Plays the turns of one session. ``stopping`` is the latch of the turn that runs, ``lineage`` how the conversation
    goes on in other sessions."""

    def __init__(self, resources: Resources, session: Session, beside: Beside) -> None:
        equipment = resources.equipment
        self.stopping: Stop | None = None
        self.lineage = Lineage(session, equipment.compressor, equipment.tools, resources.new_id, beside)
        self._beside = beside
        self._session = session
        self._equipment = equipment
        self._store = resources.store
        self._clock = resources.clock

    @property
    def busy(self) -> bool:
        """A turn is running."""
        return self.stopping is not None

    def idle(self, what: str) -> None:
        """Raises: HermesError: a turn is running, so that `what` has to wait."""
        if self.busy:
            raise HermesError(f"A turn is running in this session: stop it or wait for it, then {what}.")

    def stop(self, by: str) -> None:
        """Stop the running turn, from any thread. Without one, nothing happens."""
        if self.stopping is not None:
            self.stopping.press(by)

    def settle(self) -> None:
        """Nothing is played any more: what was spent beside the conversation is in its usage, if the store lets."""
        with suppress(StoreError):
            self.lineage.pay()

    @contextmanager
    def working(self, work: Work) -> Iterator[Stop]:
        """While it lasts the session is busy and `stop` presses the latch it is given.

        Raises:
            HermesError: a turn is running, so that this has to wait.
        """
        self.idle(work.called)
        self.stopping = stop = Stop()
        turn_begins(self._clock)
        try:
            yield stop
        except asyncio.CancelledError as error:
            in_a_line(error, f"Interrupted. {work.left}")  # of a cell that awaits us
            raise
        finally:
            self.stopping = None
            if not self._equipment.settings.spec:
                self._store.fold_apart()

    async def play(
        self, asked: Asked | None, timeout: float | None, names: Sequence[str] | None
    ) -> AsyncGenerator[Event, None]:
        """The events of the turn that `asked` begins, or of the one that a crash cut off, in at most `timeout` seconds
        (None: the setting's) and with the tools called `names` (None: all).

        Raises:
            HermesError: a turn is running, a tool is unknown, or the store cannot be written.
            NoEndpoint: there is no model to ask.
        """
        seconds = self._equipment.settings.turn_seconds if timeout is None else timeout
        with self.working(Work.ASK) as stop, self._giving_way(), explained():
            async with aclosing(self._equipment.servers.ready(stop)) as told:
                async for noticed in told:
                    yield noticed
            world = self._equipment.world(stop, names)
            self._equipment.tools.begin_turn()
            inside = self.lineage.next() if asked else None
            if asked and (note := self._beside.note(self._session.turn)):
                asked = replace(asked, note=note)
            played = self._session.play(world, asked, inside)
            async with stop.after(guard(self._clock), seconds), aclosing(played) as events:
                async for event in events:
                    moved = self.lineage.moved(inside) if inside and isinstance(event, Asked) else None
                    yield event
                    if moved:
                        yield moved

    @contextmanager
    def _giving_way(self) -> Iterator[None]:
        """What goes on beside the conversation is not to be in the way of a turn, and learns from it."""
        with self._beside.during(lambda: self._session.turn), self._equipment.compressor.giving_way():
            yield

    async def to_the_end(self, events: AsyncGenerator[Event, None]) -> Turn:
        """The turn once all of its `events` have happened."""
        async with aclosing(events):
            async for _ in events:
                pass
        return self._session.turn

    async def compress(self, focus: str) -> AsyncGenerator[Event, None]:
        """The events of a compression between two turns, which keeps `focus` most fully.

        Raises:
            HermesError: a turn is running, it was stopped, or the store cannot be written.
            NoEndpoint: there is no model to ask.
        """
        with self.working(Work.COMPRESS) as stop, explained():
            self._equipment.models.main()
            async with aclosing(self.lineage.compress(self._equipment.redact(scrub(focus)), stop)) as events:
                async for event in events:
                    yield event
