"""How long a connection has been silent, and when that is too long. Counted in ticks of the running event loop: it
guards against what hangs, whatever clock is told by.

A tick adds at most `TICK_CAP` of silence, so a loop that was blocked for a minute, or a laptop that slept for an hour,
counts as one tick: only silence that was listened to is silence.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from heapq import nlargest

from hermes_kernel.core.events import Silence
from hermes_kernel.core.trouble import Cause

TICK_SECONDS = 0.1
TICK_CAP = 0.25
LULL = 2.0  # seconds of silence within an answer that are worth keeping
LULLS = 20  # of one answer that are kept


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of silence that are borne: before the first byte of an answer, once it has begun, with keep-alives only,
    and after the model said that it is done but the server does not hang up."""

    first_byte: float
    stale: float
    queued: float
    after_end: float = 5.0

    @property
    def tick(self) -> float:
        """How often to look, in seconds: often enough for the shortest of the limits."""
        return min(TICK_SECONDS, self.first_byte / 4, self.stale / 4, self.queued / 4)


class Watch:
    """The silence of one connection. Knows no clock: it is told how long a tick was and what was heard."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.begun = False
        self._keep_alives = False
        self._no_byte = 0.0
        self._no_data = 0.0
        self._deaf = 0.0
        self._told = 0

    def heard(self, *, data: bool) -> None:
        """Bytes came: more of the reply, or (`data` false) only a keep-alive."""
        self.begun = True
        self._no_byte = 0.0
        self._keep_alives = not data
        if data:
            self._no_data = self._deaf = 0.0
            self._told = 0

    def tick(self, seconds: float, without_byte: float) -> None:
        """`seconds` have passed since the last tick, `without_byte` of them since the last byte. More than `TICK_CAP`
        were not spent listening."""
        self._no_data += min(seconds, TICK_CAP)
        self._no_byte += min(without_byte, TICK_CAP)
        if self.begun:
            self._deaf += max(seconds - TICK_CAP, 0.0)

    @property
    def deaf(self) -> float:
        """Seconds since the answer last went on that were not spent listening."""
        return self._deaf

    @property
    def silence(self) -> Silence:
        """The silence as a person should see it."""
        if self._keep_alives:
            return Silence(self._no_data, self.patience.queued, "queued")
        if self.begun:
            return Silence(self._no_byte, self.patience.stale, "stream")
        return Silence(self._no_byte, self.patience.first_byte, "first_byte")

    def news(self) -> Silence | None:
        """The silence, once for every whole second of it."""
        silence = self.silence
        if int(silence.seconds) <= self._told:
            return None
        self._told = int(silence.seconds)
        return silence

    def verdict(self) -> Cause | None:
        """Which limit is passed, if one is."""
        if not self.begun:
            return Cause.FIRST_BYTE if self._no_byte >= self.patience.first_byte else None
        if self._no_byte >= self.patience.stale:
            return Cause.STALE
        return Cause.QUEUED if self._keep_alives and self._no_data >= self.patience.queued else None

    def lingers(self) -> bool:
        """Whether nothing more of a reply that was whole has come for long enough to take that as the end."""
        return self._no_data >= min(self.patience.after_end, self.patience.stale)


class Lulls:
    """The silences within one answer that are worth keeping: a long stream has a bounded number of them."""

    def __init__(self) -> None:
        self._found: list[tuple[float, float]] = []

    def note(self, began: float, seconds: float) -> None:
        """One that began so many seconds after the request, and how long it was."""
        if seconds >= LULL:
            longest = (*self._found, (round(max(began, 0.0), 1), round(seconds, 1)))
            self._found = nlargest(LULLS, longest, key=lambda lull: lull[1])

    def since(self, late: float) -> tuple[tuple[float, float], ...]:
        """The longest in order of time, the request having gone out `late` seconds after what they are counted from."""
        return tuple(sorted((round(began + late, 1), seconds) for began, seconds in self._found))


class Bell:
    """Wakes one waiter: for data, for a stop, and for every tick. One timer, however many chunks come."""

    def __init__(self, tick_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = tick_seconds
        self._waiter: asyncio.Future[None] | None = None
        self._rung = False
        self._timer = self._loop.call_later(tick_seconds, self._tick)
        self.ticked = False

    def ring(self, *_: object) -> None:
        """Wake the waiter, or the next one at once. Takes what callbacks are given."""
        self._rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> bool:
        """Return when it rings; whether a tick has passed since the last time."""
        if not self._rung:
            self._waiter = self._loop.create_future()
            await self._waiter
        ticked, self._rung, self.ticked = self.ticked, False, False
        return ticked

    def close(self) -> None:
        """No more ticks."""
        self._timer.cancel()

    def _tick(self) -> None:
        self.ticked = True
        self._timer = self._loop.call_later(self._seconds, self._tick)
        self.ring()
