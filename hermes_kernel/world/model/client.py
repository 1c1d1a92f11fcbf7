"""`OpenAIModel`: the `Model` port over any OpenAI-compatible endpoint, its fallbacks, and the local model.

Every failure of a server, a network or a model becomes one event; only a mistake of our own raises.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import string
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Calling, Event, Failed, Interrupted, Noticed, Replied, WindowFound
from hermes_kernel.core.messages import ToolSpec, Usage
from hermes_kernel.core.trouble import Cause, Trouble
from hermes_kernel.settings import Settings
from hermes_kernel.world.model.exchange import Exchange, Terms
from hermes_kernel.world.model.inquiry import Inquiry
from hermes_kernel.world.model.lane import Lane
from hermes_kernel.world.model.pool import Pool
from hermes_kernel.world.model.rate import RateWindow
from hermes_kernel.world.model.reading import Reading
from hermes_kernel.world.model.routes import Cooling, Route, routes_of
from hermes_kernel.world.model.wire import Wire
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop, Stopped

_MOST_REQUESTS = 8
"""Requests for one call: the first, and one after each lesson."""


class OpenAIModel:
    """Asks the model of `settings` and, by their number, its fallbacks. One for a session, used from a loop at a time.

    ``routes`` replaces the ones of the settings, ``wire`` the network. ``new_id`` makes ids for tool calls that come
    without one: 9 alphanumerics, which every provider takes back.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        routes: Sequence[Route] | None = None,
        wire: Wire | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._new_id = new_id or _nine_characters
        self._wire = wire = wire or Pool(settings.connect_seconds)
        rates: dict[tuple[str, str], RateWindow] = {}
        self._lanes = [
            Lane(
                route,
                settings,
                rates.setdefault(route.account, RateWindow(settings.requests_per_minute)),
                wire,
                0 if number else settings.context_window,
            )
            for number, route in enumerate(routes or routes_of(settings, os.environ))
        ]
        self._cooling = Cooling()
        self._warm = wire.alone

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

    def window(self, route: int) -> int:
        """Tokens that the model of `route` reads at most, as far as is known now; 0: not known."""
        return self._lanes[route].reach.tokens if 0 <= route < len(self._lanes) else 0

    def warm(self) -> None:
        """Import what the first call needs: a second or two. For a thread, while a person is still typing."""
        self._wire.warm()
        self._warm = True

    async def aclose(self) -> None:
        """Close the connections of this loop and end the local model."""
        await self._wire.aclose()
        await asyncio.to_thread(self._end_local)
        self.close()

    def close(self) -> None:
        """The same from anywhere, for the connections of every loop."""
        self._wire.close()
        self._end_local()

    def _end_local(self) -> None:
        for lane in self._lanes:
            if lane.local:
                lane.local.stop()

    async def reply(self, call: CallModel, tools: Sequence[ToolSpec], stop: Stop) -> AsyncGenerator[Event, None]:
        """See `ports.Model.reply`."""
        number = min(max(call.route, 0), len(self._lanes) - 1)
        inquiry = Inquiry(call, tuple(tools), stop, self._lanes[number], self._clock)
        async with aclosing(self._conversation(inquiry)) as events:
            async for event in events:
                yield event
        end = inquiry.end
        if isinstance(end, Failed):
            self._cooling.failed(number, end, self._clock.elapsed())
        elif isinstance(end, Replied):
            self._cooling.replied(number)
        window = inquiry.lane.reach.window
        if window and window.tokens != call.window and isinstance(end, Replied | Failed):
            yield WindowFound(window.tokens, window.source)
        if end is not None:
            yield end

    async def _conversation(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """What can be said without asking; else ask, and ask once more for each lesson in an answer."""
        lane = inquiry.lane
        if objection := lane.objection():
            inquiry.end = inquiry.failed(Trouble(status=401, message=objection))
            return
        if not self._warm:
            with suppress(Stopped):
                await inquiry.stop.race(asyncio.to_thread(self.warm))
        if lane.local and lane.route is None:
            async with aclosing(lane.local.start(inquiry.stop)) as progress:
                async for line in progress:
                    yield line
        if inquiry.stop.by:
            inquiry.end = Interrupted(inquiry.stop.by, inquiry.call.shown)
        elif lane.route is None:
            inquiry.end = inquiry.failed(Trouble(status=404, message=lane.local.trouble if lane.local else ""))
        else:
            async with aclosing(self._requests(inquiry, lane.route)) as events:
                async for event in events:
                    yield event

    async def _requests(self, inquiry: Inquiry, route: Route) -> AsyncGenerator[Event, None]:
        for _ in range(_MOST_REQUESTS):
            if wait := inquiry.lane.rate.wait(self._clock.elapsed()):
                inquiry.end = inquiry.throttled(wait)
                return
            async with aclosing(self._request(inquiry, route)) as events:
                async for event in events:
                    yield event
            if inquiry.lesson is None:
                return
            yield inquiry.lesson
            inquiry.lesson = None
            if inquiry.stop.by:
                inquiry.end = Interrupted(inquiry.stop.by, inquiry.call.shown)
                return

    async def _request(self, inquiry: Inquiry, route: Route) -> AsyncGenerator[Event, None]:
        lane, call = inquiry.lane, inquiry.call
        limit = call.max_tokens or self._settings.max_tokens
        inquiry.written = lane.quirks
        inquiry.body, inquiry.sent = lane.encoder.body(call, inquiry.tools, lane.quirks, limit)
        offered = [spec.name for spec in inquiry.tools] if "tools" in inquiry.sent.fields else []
        reading = Reading(call.shown, offered, self._new_id)
        exchange = Exchange(inquiry.body, reading, Terms(lane.patience, self._clock, inquiry.stop))
        yield Calling(route.model, lane.wanted.endpoint)
        lane.rate.sent(self._clock.elapsed())
        async with aclosing(exchange.events(self._wire, route)) as events:
            async for event in events:
                yield event
                if exchange.begun:
                    lane.look()
        lane.rate.learn(exchange.headers, self._clock.elapsed(), self._clock.now())
        for event in (*self._conclude(inquiry, exchange, reading), *map(Noticed, self._wire.news())):
            yield event

    def _conclude(self, inquiry: Inquiry, exchange: Exchange, reading: Reading) -> list[Event]:
        """How the request ended, and the passing events that are left to tell."""
        usage = inquiry.guess(reading) if exchange.begun else Usage()
        if inquiry.stop.by:
            inquiry.end = Interrupted(inquiry.stop.by, reading.visible, usage)
            return []
        events, result = reading.conclude(exchange.trouble, exchange.status)
        if isinstance(result, Trouble):
            trouble = inquiry.told(result, exchange)
            rescued = reading.rescued(trouble.generation) if trouble.generation else None
            if rescued is None:
                failed = inquiry.failed(trouble, reading.visible, usage)
                inquiry.end = replace(failed, silences=inquiry.silences(exchange))
                self._take_in(inquiry, trouble, exchange)
                return events
            result = rescued
        inquiry.end = reply = inquiry.replied(result, reading, exchange)
        inquiry.lane.look()
        suspicion = inquiry.lane.counted(reply.usage, inquiry.sent)
        return [*events, suspicion] if suspicion else events

    def _take_in(self, inquiry: Inquiry, trouble: Trouble, exchange: Exchange) -> None:
        """What a failure means for later requests, and whether one of them can follow at once."""
        lane = inquiry.lane
        if lane.local and trouble.cause in (Cause.CONNECT, Cause.DISCONNECT):
            lane.local.forget()
        if isinstance(inquiry.end, Failed) and inquiry.end.window:
            lane.reach.shown(inquiry.end.window, "overflow")
        if not exchange.begun:
            inquiry.lesson = lane.learn(trouble, inquiry.sent, inquiry.written)


def _nine_characters() -> str:
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(9))
