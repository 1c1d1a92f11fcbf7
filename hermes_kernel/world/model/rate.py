"""Limits known before a call is made: a number of requests per minute, and what a server said is used up."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from hermes_kernel.core.hints import used_up

_MINUTE = 60.0


class RateWindow:
    """The calls of one endpoint. Times are of a clock that never jumps, in seconds."""

    def __init__(self, requests_per_minute: int = 0) -> None:
        self._limit = requests_per_minute
        self._sent: deque[float] = deque(maxlen=max(requests_per_minute, 1))
        self._renewed = 0.0

    def wait(self, elapsed: float) -> float:
        """Seconds until a call would be let through; 0 for now."""
        full = self._limit and len(self._sent) == self._limit
        own = self._sent[0] + _MINUTE - elapsed if full else 0.0
        return max(own, self._renewed - elapsed, 0.0)

    def sent(self, elapsed: float) -> None:
        """A call goes out."""
        self._sent.append(elapsed)

    def learn(self, headers: Mapping[str, str], elapsed: float, now: float) -> None:
        """What an answer says is left. A remainder of 0 closes the window until its reset; a negative one is none."""
        seconds = used_up(headers, now)
        if seconds is not None:
            self._renewed = max(self._renewed, elapsed + seconds)
