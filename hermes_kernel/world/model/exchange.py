"""One request and the wait for its answer. It can be stopped at any moment, and no silence is endless."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing
from dataclasses import dataclass

from hermes_kernel.core.events import Event
from hermes_kernel.core.trouble import Cause, Trouble
from hermes_kernel.world.model.reading import Reading
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.model.watch import Bell, Lulls, Patience, Watch
from hermes_kernel.world.model.wire import Talk, Wire
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop

_WHY = {
    Cause.FIRST_BYTE: "no byte of an answer in {:g} s; the connection was closed",
    Cause.STALE: "the stream was silent for {:g} s; the connection was closed",
    Cause.QUEUED: "nothing but keep-alives for {:g} s; the connection was closed",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which an exchange is made: how much silence is borne (in real seconds), by which clock its times are told,
    and who may stop it."""

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
        self.started = self._spoke = terms.clock.elapsed()
        self._heard = self._ticked = 0.0  # by the running loop

    @property
    def begun(self) -> bool:
        """Whether a byte of an answer has come."""
        return self._watch.begun

    async def events(self, wire: Wire, route: Route) -> AsyncGenerator[Event, None]:
        """What there is to show until the answer ends, fails, falls silent or is stopped. The connection is closed, or
        free for the next request, when this ends."""
        self._heard = self._ticked = asyncio.get_running_loop().time()
        with ExitStack() as leaving:
            bell = Bell(self._terms.patience.tick)
            leaving.callback(bell.close)
            latch = asyncio.ensure_future(self._terms.stop.wait())
            leaving.callback(latch.cancel)
            latch.add_done_callback(bell.ring)
            talk = await wire.open(route, self._body, bell.ring)
            async with aclosing(self._converse(talk, bell)) as events:
                async for event in events:
                    yield event

    async def _converse(self, talk: Talk, bell: Bell) -> AsyncGenerator[Event, None]:
        try:
            over = False
            while not over:
                ticked = await bell.wait()
                for event in () if self._terms.stop.by else self._listen(talk):
                    yield event
                news, over = self._look(talk, ticked=ticked)
                if news:
                    yield news
            if not self._terms.stop.by:
                talk.settle(self.trouble)
        finally:
            self._note_lull()
            await talk.close()
            self.headers, self.status = talk.headers, talk.status
            self.trouble = self.trouble or talk.trouble

    def _listen(self, talk: Talk) -> list[Event]:
        """What has come since the last time, read in one go: the cost of a chunk is mostly the cost of a look."""
        if not (block := talk.take()):
            return []
        events, data = self._reading.feed(block)
        self._note(data=data)
        return events

    def _note(self, *, data: bool) -> None:
        self._heard = asyncio.get_running_loop().time()
        if not self._watch.begun:
            self._spoke = self._terms.clock.elapsed()
            self.first_byte = self._spoke - self.started
        elif data:
            self._note_lull()
        self._watch.heard(data=data)

    def _note_lull(self) -> None:
        """The silence since the answer last went on, which may be over now. What was not listened to is none."""
        if self._watch.begun:
            now = self._terms.clock.elapsed()
            self.lulls.note(self._spoke - self.started, now - self._spoke - self._watch.deaf)
            self._spoke = now

    def _look(self, talk: Talk, *, ticked: bool) -> tuple[Event | None, bool]:
        """News of a silence, and whether this is the end."""
        if self._terms.stop.by or self._reading.is_hopeless:
            return None, True
        if talk.ended:
            talk.check()
            return None, True
        if not ticked:
            return None, False
        now = asyncio.get_running_loop().time()
        self._watch.tick(now - self._ticked, now - max(self._ticked, self._heard))
        self._ticked = now
        if self._reading.is_complete and (self._reading.is_done or self._watch.lingers()):
            return None, True
        if cause := self._watch.verdict():
            self.trouble = Trouble(cause, message=_WHY[cause].format(self._watch.silence.limit))
            return None, True
        return self._watch.news(), False
