"""Two more keepers of the wire: one that records what passes over another, one that answers from a recording; and both
together, which fills the gaps of a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from hermes_kernel.core.recording.cassette import Block, Exchange, Request
from hermes_kernel.core.recording.finding import Miss
from hermes_kernel.core.recording.folders import Marked
from hermes_kernel.core.recording.headers import by_seconds
from hermes_kernel.core.recording.secrets import hidden, hidden_address, hidden_request
from hermes_kernel.core.trouble import Cause, Trouble, read_trouble
from hermes_kernel.core.windows import Window
from hermes_kernel.world.model.connection import NoConnection
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.model.wire import Talk, Wire
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.recording.player import Player
from hermes_kernel.world.recording.reel import Reel

_REFUSALS = range(300, 1000)  # statuses of answers that are no stream


@dataclass(frozen=True, slots=True)
class Form:
    """How traffic is looked at: ``normal`` makes the normal form of a request of its bytes, ``secrets`` are not to be
    seen, and folders are ``marked`` in answers."""

    normal: Callable[[bytes], Request]
    secrets: Callable[[], frozenset[str]]
    clock: Clock
    marked: Callable[[], Marked] = lambda: Marked({})

    def request(self, body: bytes) -> Request:
        """What `body` is found by."""
        return hidden_request(self.normal(body), self.secrets())

    def named(self, route: Route) -> str:
        """`route` as a recording calls it: without its key, also where that is a part of the address."""
        return hidden_address(f"{route.model}@{route.endpoint}", self.secrets())


class Recording:
    """Keeps `wire.Wire` over another, and keeps what passes in ``reel``."""

    def __init__(self, wire: Wire, reel: Reel, form: Form) -> None:
        self.alone = wire.alone
        self._wire = wire
        self._reel = reel
        self._form = form

    def warm(self) -> None:
        self._wire.warm()

    async def open(self, route: Route, body: bytes, ring: Callable[[], None]) -> Talk:
        talk = await self._wire.open(route, body, ring)
        return _Overheard(talk, lambda exchange: self._keep(body, exchange))

    def window(self, route: Route) -> Window | None:
        found = self._wire.window(route)
        if found is not None:
            self._reel.keep_window(self._form.named(route), found.tokens)
        return found

    def news(self) -> tuple[str, ...]:
        return (*self._wire.news(), *self._reel.news())

    async def aclose(self) -> None:
        await self._wire.aclose()

    def close(self) -> None:
        self._wire.close()

    def _keep(self, body: bytes, exchange: _Heard) -> None:
        """Write it down, but for secrets."""
        form, headers = self._form, by_seconds(exchange.headers, self._form.clock.now())
        whole = Exchange(
            form.normal(body),
            exchange.status,
            headers,
            tuple(exchange.blocks),
            exchange.cause,
            exchange.message,
            exchange.gap,
        )
        self._reel.keep(hidden(whole, form.secrets(), form.marked().hide))


@dataclass(slots=True)
class _Heard:
    """All that came of a request."""

    status: int
    headers: dict[str, str]
    blocks: list[Block]
    cause: Cause
    message: str
    gap: float


class _Overheard:
    """Keeps `wire.Talk` over another; when all is known that will be, `keep` is told."""

    def __init__(self, talk: Talk, keep: Callable[[_Heard], None]) -> None:
        self._talk = talk
        self._keep = keep
        self._blocks: list[Block] = []
        self._clock = asyncio.get_running_loop().time  # as the watchdog: a clock that stands still hears no pause
        self._last = self._clock()

    @property
    def headers(self) -> dict[str, str]:
        return self._talk.headers

    @property
    def status(self) -> int:
        return self._talk.status

    @property
    def trouble(self) -> Trouble | None:
        return self._talk.trouble

    @property
    def refusal(self) -> str:
        return self._talk.refusal

    @property
    def ended(self) -> bool:
        return self._talk.ended

    def take(self) -> bytes:
        if block := self._talk.take():
            self._blocks.append(Block(block, self._gap()))
        return block

    def check(self) -> None:
        self._talk.check()

    def settle(self, trouble: Trouble | None) -> None:
        self._talk.settle(trouble)
        trouble = trouble or self._talk.trouble
        if trouble is None or trouble.cause is not Cause.NOT_RECORDED:
            self._keep(self._heard(trouble))

    async def close(self) -> None:
        await self._talk.close()

    def _gap(self) -> float:
        before, self._last = self._last, self._clock()
        return self._last - before

    def _heard(self, trouble: Trouble | None) -> _Heard:
        status, headers, gap = self.status, self.headers, self._gap()
        if trouble is None:
            return _Heard(status, headers, self._blocks, Cause.ANSWER, "", gap)
        if trouble.cause is Cause.ANSWER:
            refusal = [Block(self.refusal.encode("utf-8", "replace"), gap)] if self.refusal else []
            return _Heard(trouble.status, headers, refusal, Cause.ANSWER, "", 0.0)
        return _Heard(status, headers, self._blocks, trouble.cause, trouble.message, gap)


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
        found = self._player.find(self._form.request(body))
        if isinstance(found, Miss):
            message = found.words(self._player.path.name)
            return NoConnection(Trouble(Cause.NOT_RECORDED, message=message), ring)
        return _Played(replace(found, blocks=self._form.marked().fill(found)), ring, self._clock)

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
