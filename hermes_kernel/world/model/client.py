"""`OpenAIModel`: the `Model` port over any OpenAI-compatible endpoint, its fallbacks, and the local model.

Every failure of a server, a network or a model becomes one event; only a mistake of our own raises.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import string
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace

from hermes_kernel.core.classify import classify
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Calling, Event, Failed, Interrupted, Replied
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.hints import wait_hint
from hermes_kernel.core.messages import ToolSpec, Usage
from hermes_kernel.core.trouble import Cause, Trouble, one_line
from hermes_kernel.settings import Settings
from hermes_kernel.world.model.connection import Pool
from hermes_kernel.world.model.exchange import Exchange, Terms
from hermes_kernel.world.model.lane import Lane
from hermes_kernel.world.model.quirks import Sent
from hermes_kernel.world.model.reading import Reading
from hermes_kernel.world.model.routes import Cooling, Route, routes_of
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop

_MOST_LESSONS = 8
_LARGE_TOKENS = 120_000
"""A request of so many tokens that gets no answer but a closed connection was too long, where the window is unknown."""
_LARGE_SHARE = 0.6
_BYTES_PER_TOKEN = 4


@dataclass(slots=True)
class _Asking:
    """One call as it is being made."""

    call: CallModel
    tools: tuple[ToolSpec, ...]
    stop: Stop
    lane: Lane
    started: float
    body: bytes = b""
    sent: Sent = Sent(frozenset())


class OpenAIModel:
    """Asks the model of `settings` and, by their number, its fallbacks. One for a session; used from one loop at a time.

    ``routes`` replaces the ones of the settings. ``new_id`` makes ids for tool calls that come without one: 9
    alphanumerics, which every provider takes back.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        routes: Sequence[Route] | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._new_id = new_id or _nine_characters
        self._lanes = [Lane(route, settings) for route in routes or routes_of(settings, os.environ)]
        self._cooling = Cooling()
        self._pool = Pool(settings.connect_seconds)

    @property
    def routes(self) -> tuple[Route, ...]:
        """The models that may be asked, in order."""
        return tuple(lane.wanted for lane in self._lanes)

    def cooling(self, route: int) -> bool:
        """Whether `route` failed lately for reasons of its account."""
        return self._cooling.is_cooling(route, self._clock.elapsed())

    def first_route(self) -> int:
        """The first route that is not cooling; the main one if all are."""
        return next((number for number in range(len(self._lanes)) if not self.cooling(number)), 0)

    def warm(self) -> None:
        """Import what the first call needs. For a thread, while a person is still typing."""
        import openai  # noqa: F401

    async def aclose(self) -> None:
        """Close the connections of this loop and end the local model."""
        await self._pool.aclose()
        await asyncio.to_thread(self._end_local)
        self.close()

    def close(self) -> None:
        """The same from anywhere, without waiting for the connections."""
        self._pool.close()
        self._end_local()

    def _end_local(self) -> None:
        for lane in self._lanes:
            if lane.local:
                lane.local.stop()

    async def reply(self, call: CallModel, tools: Sequence[ToolSpec], stop: Stop) -> AsyncGenerator[Event, None]:
        """See `ports.Model.reply`."""
        number = min(max(call.route, 0), len(self._lanes) - 1)
        asking = _Asking(call, tuple(tools), stop, self._lanes[number], self._clock.elapsed())
        final: Event | None = None
        async for event in self._conversation(asking):
            final = event
            yield event
        if isinstance(final, Failed):
            self._cooling.failed(number, final, self._clock.elapsed())
        elif isinstance(final, Replied):
            self._cooling.replied(number)

    async def _conversation(self, asking: _Asking) -> AsyncGenerator[Event, None]:
        """What can be said without asking; else ask, and ask once more for each lesson in an answer."""
        lane = asking.lane
        if objection := lane.objection():
            yield self._failed(asking, Trouble(status=401, message=objection))
            return
        if lane.local and lane.route is None:
            async for progress in lane.local.start(asking.stop):
                yield progress
        if asking.stop.by:
            yield Interrupted(asking.stop.by, asking.call.shown)
        elif lane.route is None:
            trouble = lane.local.trouble if lane.local else ""
            yield self._failed(asking, Trouble(status=404, message=trouble))
        else:
            async for event in self._lessons(asking, lane.route):
                yield event

    async def _lessons(self, asking: _Asking, route: Route) -> AsyncGenerator[Event, None]:
        for _ in range(_MOST_LESSONS):
            wait = asking.lane.window.wait(self._clock.elapsed())
            if wait:
                yield self._throttled(asking, wait)
                return
            ends: list[Event] = []
            async for event in self._attempt(asking, route, ends):
                yield event
            if len(ends) == 1:
                yield ends[0]
                return
            yield ends[1]
        yield ends[0]

    async def _attempt(self, asking: _Asking, route: Route, ends: list[Event]) -> AsyncGenerator[Event, None]:
        """One request. ``ends`` gets its final event, and after it the lesson that makes another request worth while."""
        lane, call = asking.lane, asking.call
        limit = call.max_tokens or self._settings.max_tokens
        asking.body, asking.sent = lane.encoder.body(call, asking.tools, lane.quirks, limit)
        offered = [spec.name for spec in asking.tools] if "tools" in asking.sent.fields else []
        reading = Reading(call.shown, offered, self._new_id)
        exchange = Exchange(asking.body, reading, Terms(lane.patience, self._clock, asking.stop))
        yield Calling(route.model, lane.wanted.endpoint)
        try:
            client = self._pool.client(route)
        except ValueError as error:
            ends.append(self._failed(asking, Trouble(status=404, message=f"{route.endpoint} is no address: {error}")))
            return
        lane.window.sent(self._clock.elapsed())
        async for event in exchange.events(client):
            yield event
        lane.window.learn(exchange.headers, self._clock.elapsed(), self._clock.now())
        for event in self._conclude(asking, exchange, reading, ends):
            yield event

    def _conclude(self, asking: _Asking, exchange: Exchange, reading: Reading, ends: list[Event]) -> list[Event]:
        """The passing events that are left; the final one goes into ``ends``."""
        if asking.stop.by:
            usage = self._guessed(asking, reading) if exchange.begun else Usage()
            ends.append(Interrupted(asking.stop.by, reading.visible, usage))
            return []
        events, result = reading.conclude(exchange.trouble, exchange.status)
        if isinstance(result, Replied):
            return events + self._replied(asking, exchange, reading, result, ends)
        trouble = self._told(asking, exchange, result)
        rescued = reading.rescued(trouble.generation) if trouble.generation else None
        if rescued:
            return events + self._replied(asking, exchange, reading, rescued, ends)
        if asking.lane.local and trouble.cause in (Cause.CONNECT, Cause.DISCONNECT):
            asking.lane.local.forget()
        usage = self._guessed(asking, reading) if exchange.begun else Usage()
        ends.append(self._failed(asking, trouble, reading.visible, usage))
        if (lesson := asking.lane.learn(trouble, asking.sent)) and not exchange.begun:
            ends.append(lesson)
        return events

    def _replied(
        self, asking: _Asking, exchange: Exchange, reading: Reading, reply: Replied, ends: list[Event]
    ) -> list[Event]:
        lane = asking.lane
        usage = self._guessed(asking, reading) if reply.usage.estimated else reply.usage
        ends.append(
            replace(
                reply,
                usage=usage,
                model=lane.wanted.model,
                endpoint=lane.wanted.endpoint,
                first_byte_seconds=exchange.first_byte,
                seconds=self._clock.elapsed() - asking.started,
            )
        )
        suspicion = lane.suspicion(usage, len(asking.body) // _BYTES_PER_TOKEN)
        return [suspicion] if suspicion else []

    def _told(self, asking: _Asking, exchange: Exchange, trouble: Trouble) -> Trouble:
        """`trouble` with what only this end knows: the server's hint, and whether the request was very large."""
        headers = exchange.headers if exchange.status != 200 else {}
        window = self._settings.context_window
        limit = window * _LARGE_SHARE if window else _LARGE_TOKENS
        return replace(
            trouble,
            wait=wait_hint(headers, trouble.words, self._clock.now()),
            large=not exchange.begun and len(asking.body) / _BYTES_PER_TOKEN > limit,
        )

    def _guessed(self, asking: _Asking, reading: Reading) -> Usage:
        return Usage(1, len(asking.body) // _BYTES_PER_TOKEN, reading.output_tokens, estimated=True)

    def _throttled(self, asking: _Asking, wait: float) -> Failed:
        trouble = Trouble(message=f"the request limit of this endpoint is used up for {wait:.1f} s", wait=wait)
        return replace(self._failed(asking, trouble), fault=Fault.PROACTIVE_RATE_LIMIT)

    def _failed(
        self, asking: _Asking, trouble: Trouble, partial: str | None = None, usage: Usage | None = None
    ) -> Failed:
        route = asking.lane.wanted
        secret = asking.lane.route.api_key if asking.lane.route else route.api_key
        return Failed(
            fault=classify(trouble),
            message=one_line(trouble.message, (secret, route.api_key)),
            status=trouble.status,
            wait=trouble.wait,
            partial=asking.call.shown if partial is None else partial,
            usage=usage or Usage(),
            model=route.model,
            endpoint=route.endpoint,
            seconds=self._clock.elapsed() - asking.started,
        )


def _nine_characters() -> str:
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(9))
