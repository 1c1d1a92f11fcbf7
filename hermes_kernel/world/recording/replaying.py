"""A wire that answers from a recording, and one that asks over another where it has no answer. What a server said, and
what became of the connection, comes again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from hermes_kernel.core.recording.cassette import Exchange
from hermes_kernel.core.recording.finding import Miss
from hermes_kernel.core.trouble import Cause, Trouble, read_trouble
from hermes_kernel.core.windows import Window
from hermes_kernel.world.model.connection import NoConnection
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.model.wire import Talk, Wire
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.recording.form import Form
from hermes_kernel.world.recording.player import Player

_REFUSALS = range(300, 1000)  # statuses of answers that are no stream


class Replaying:
    """Keeps `wire.Wire` by answering from ``player``: at once, or on ``clock`` with the pauses that there were."""

    alone = True

    def __init__(self, player: Player, form: Form, clock: Clock | None) -> None:
        self._player = player
        self._form = form
        self._clock = clock

    def warm(self) -> None:
        pass

    async def open(self, route: Route, body: bytes, ring: Callable[[], None]) -> Talk:
        found = self._player.find(self._form.asked(body))
        if isinstance(found, Miss):
            message = found.words(self._player.path.name)
            return NoConnection(Trouble(Cause.NOT_RECORDED, message=message), ring)
        return _Played(replace(found, blocks=self._form.blocks(found)), ring, self._clock)

    def window(self, route: Route) -> Window | None:
        return self._player.window(self._form.named(route))

    def news(self) -> tuple[str, ...]:
        return self._player.news()

    async def aclose(self) -> None:
        pass

    def close(self) -> None:
        pass


class _Played:
    """Keeps `wire.Talk` for an exchange that was recorded. It is taken block by block, as it was when it came."""

    def __init__(self, exchange: Exchange, ring: Callable[[], None], clock: Clock | None) -> None:
        refused = exchange.cause is Cause.ANSWER and exchange.status in _REFUSALS
        body = b"".join(block.data for block in exchange.blocks).decode("utf-8", "replace") if refused else ""
        self.headers = dict(exchange.headers)
        self.status = 0 if refused else exchange.status
        self.refusal = body
        self.trouble: Trouble | None = None
        self._exchange = exchange
        self._refused = refused
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._ready: list[bytes] = []  # the next one last
        self._over = False
        self._task = asyncio.ensure_future(self._play(clock)) if clock else None
        if clock is None:
            self._ready = [] if refused else [block.data for block in reversed(exchange.blocks) if block.data]
            self._end()

    @property
    def ended(self) -> bool:
        return self._over and not self._ready

    def take(self) -> bytes:
        if not self._ready:
            return b""
        block = self._ready.pop()
        self._loop.call_soon(self._ring)  # others have their turn between two blocks
        return block

    def check(self) -> None:
        if self._task and self._task.done() and not self._task.cancelled() and (error := self._task.exception()):
            raise error

    def settle(self, trouble: Trouble | None) -> None:
        pass

    async def close(self) -> None:
        if self._task and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _play(self, clock: Clock) -> None:
        """Each block in its time."""
        try:
            for block in self._exchange.blocks:
                await clock.sleep(block.gap)
                if block.data and not self._refused:
                    self._ready.insert(0, block.data)
                    self._ring()
            await clock.sleep(self._exchange.gap)
        finally:
            self._end()

    def _end(self) -> None:
        told = self._exchange
        if self._refused:
            self.trouble = read_trouble(self.refusal, told.status)
        elif told.cause is not Cause.ANSWER:
            self.trouble = Trouble(told.cause, message=told.message)
        self._over = True
        self._ring()


class Filling:
    """Keeps `wire.Wire` by answering what ``known`` has, and asking by ``other`` for the rest."""

    alone = False

    def __init__(self, known: Replaying, other: Wire) -> None:
        self._known = known
        self._other = other

    def warm(self) -> None:
        self._other.warm()

    async def open(self, route: Route, body: bytes, ring: Callable[[], None]) -> Talk:
        talk = await self._known.open(route, body, ring)
        missed = talk.trouble is not None and talk.trouble.cause is Cause.NOT_RECORDED
        return await self._other.open(route, body, ring) if missed else talk

    def window(self, route: Route) -> Window | None:
        return self._known.window(route) or self._other.window(route)

    def news(self) -> tuple[str, ...]:
        return (*self._known.news(), *self._other.news())

    async def aclose(self) -> None:
        await self._other.aclose()

    def close(self) -> None:
        self._other.close()
