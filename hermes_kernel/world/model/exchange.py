"""One request and the wait for its answer. It can be stopped at any moment, and no silence is endless."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Event
from hermes_kernel.core.trouble import Cause, Trouble
from hermes_kernel.world.model.connection import Connection
from hermes_kernel.world.model.reading import Reading
from hermes_kernel.world.model.watch import Bell, Lulls, Patience, Watch
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_WHY = {
    Cause.FIRST_BYTE: "no byte of an answer in {:g} s; the connection was closed",
    Cause.STALE: "the stream was silent for {:g} s; the connection was closed",
    Cause.QUEUED: "nothing but keep-alives for {:g} s; the connection was closed",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which an exchange is made: how much silence is borne, by which clock, and who may stop it."""

    patience: Patience
    clock: Clock
    stop: Stop


class Exchange:
    """Sends ``body`` and reads the answer into ``reading``. Afterwards ``trouble`` says what went wrong, if anything
    did; ``headers`` and ``status`` are the answer's; ``first_byte`` is when it began, in seconds from the start, and
    ``lulls`` are the silences since then."""

    def __init__(self, body: bytes, reading: Reading, terms: Terms) -> None:
        self.trouble: Trouble | None = None
        self.headers: dict[str, str] = {}
        self.status = 0
        self.first_byte = 0.0
        self.lulls = Lulls()
        self._body = body
        self._reading = reading
        self._terms = terms
        self._watch = Watch(terms.patience)
        self.started = self._heard = self._spoke = self._ticked = terms.clock.elapsed()

    @property
    def begun(self) -> bool:
        """Whether a byte of an answer has come."""
        return self._watch.begun

    async def events(self, client: AsyncOpenAI) -> AsyncGenerator[Event, None]:
        """What there is to show until the answer ends, fails, falls silent or is stopped. The connection is closed, or
        free for the next request, when this ends."""
        bell = Bell(self._terms.patience.tick)
        latch = asyncio.ensure_future(self._terms.stop.wait())
        latch.add_done_callback(bell.ring)
        connection = Connection(client, self._body, bell.ring)
        try:
            over = False
            while not over:
                ticked = await bell.wait()
                for event in () if self._terms.stop.by else self._listen(connection):
                    yield event
                news, over = self._look(connection, ticked=ticked)
                if news:
                    yield news
        finally:
            latch.cancel()
            bell.close()
            self.lulls.note(self._spoke - self.started, self._watch.lull)
            await connection.close()
            self.headers, self.status = connection.headers, connection.status
            self.trouble = self.trouble or connection.trouble

    def _listen(self, connection: Connection) -> list[Event]:
        """What has come since the last time, read in one go: the cost of a chunk is mostly the cost of a look."""
        if not (block := connection.take()):
            return []
        events, data = self._reading.feed(block)
        self._note(data=data)
        return events

    def _note(self, *, data: bool) -> None:
        self._heard = self._terms.clock.elapsed()
        if not self._watch.begun:
            self.first_byte = self._heard - self.started
            self._spoke = self._heard
        if data:
            self.lulls.note(self._spoke - self.started, self._watch.lull)
            self._spoke = self._heard
        self._watch.heard(data=data)

    def _look(self, connection: Connection, *, ticked: bool) -> tuple[Event | None, bool]:
        """News of a silence, and whether this is the end."""
        if self._terms.stop.by or self._reading.is_hopeless:
            return None, True
        if connection.ended:
            connection.check()
            return None, True
        if not ticked:
            return None, False
        now = self._terms.clock.elapsed()
        self._watch.tick(now - self._ticked, now - max(self._ticked, self._heard))
        self._ticked = now
        if self._reading.is_complete and (self._reading.is_done or self._watch.lingers()):
            return None, True
        if cause := self._watch.verdict():
            self.trouble = Trouble(cause, message=_WHY[cause].format(self._watch.silence.limit))
            return None, True
        return self._watch.news(), False
