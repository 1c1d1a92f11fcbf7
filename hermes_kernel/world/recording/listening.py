"""A wire that records what passes over another. Whoever talks over it is served by that one and hears no difference."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hermes_kernel.core.recording.cassette import Block, Exchange
from hermes_kernel.core.trouble import Cause, Trouble
from hermes_kernel.core.windows import Window
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.model.wire import Talk, Wire
from hermes_kernel.world.recording.form import Form
from hermes_kernel.world.recording.reel import Reel


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
        return _Overheard(talk, body, self._reel, self._form)

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


class _Overheard:
    """Keeps `wire.Talk` over another; all that came of the request ``body`` is kept in ``reel`` in the end."""

    def __init__(self, talk: Talk, body: bytes, reel: Reel, form: Form) -> None:
        self._talk = talk
        self._body = body
        self._reel = reel
        self._form = form
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
            self._reel.keep(self._form.kept(self._heard(trouble)))

    async def close(self) -> None:
        await self._talk.close()

    def _gap(self) -> float:
        before, self._last = self._last, self._clock()
        return self._last - before

    def _heard(self, trouble: Trouble | None) -> Exchange:
        """All that came of it."""
        request, headers, gap = self._form.request(self._body), self.headers, self._gap()
        if trouble is not None and trouble.cause is Cause.ANSWER:
            refusal = (Block(self.refusal.encode("utf-8", "replace"), gap),) if self.refusal else ()
            return Exchange(request, trouble.status, headers, refusal)
        cause, message = (trouble.cause, trouble.message) if trouble else (Cause.ANSWER, "")
        return Exchange(request, self.status, headers, tuple(self._blocks), cause, message, gap)
