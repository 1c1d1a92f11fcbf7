"""When the next row may be handed out: not faster than the endpoint is to be asked, and not while it asks for patience.

One gate for a whole map, so that a server which said "later" once is not asked by every worker in turn.
"""

from __future__ import annotations

from hermes_kernel.core.events import Event, Failed, Retrying
from hermes_kernel.core.faults import Fault
from hermes_kernel.world.model.rate import RateWindow
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop

BUSY = (Fault.RATE_LIMIT, Fault.PROACTIVE_RATE_LIMIT, Fault.OVERLOADED)
PAUSE = 5.0  # seconds for a busy endpoint that names no time
LAG = 0.5  # seconds from here to the wire; so much later the minute of a call is over
GLANCE = 1.0  # seconds between two looks at a gate that may be held for longer meanwhile


class Gate:
    """Lets ``requests_per_minute`` rows through (0: any number), none while it is held."""

    def __init__(self, requests_per_minute: int, clock: Clock) -> None:
        self._window = RateWindow(requests_per_minute)
        self._clock = clock
        self._until = 0.0

    def hold(self, seconds: float) -> None:
        """Let nobody through for so long."""
        self._until = max(self._until, self._clock.elapsed() + seconds)

    def see(self, event: Event) -> None:
        """A row that waits because the endpoint is busy has the next ones wait with it."""
        if isinstance(event, Retrying) and event.fault in BUSY:
            self.hold(event.seconds)

    def failed(self, event: Failed) -> None:
        """A row was given up; where that was because the endpoint is busy, the next ones wait."""
        if event.fault in BUSY:
            self.hold(PAUSE if event.wait is None else event.wait)

    async def through(self, stop: Stop) -> None:
        """Return once a row may go.

        Raises:
            Stopped: the latch was pressed first.
        """
        while wait := self._wait():
            await stop.race(self._clock.sleep(min(wait, GLANCE)))
        self._window.sent(self._clock.elapsed() + LAG)

    def _wait(self) -> float:
        now = self._clock.elapsed()
        return max(self._window.wait(now), self._until - now, 0.0)
