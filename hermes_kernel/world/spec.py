"""A world in which the same cells tell the same: time that passes only where something waits for it, ids that are
counted. Nothing here is told from the machine, the hour, or what happened to be faster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from hashlib import blake2b
from itertools import count
from threading import Lock
from typing import Any

from hermes_kernel.world.ports import Clock

START = 1_767_225_600.0
"""2026-01-01 00:00 UTC, when a notebook begins."""

TURN = 1.0  # seconds between the beginnings of two turns that wait for nothing


class _Line:
    """How much time has passed for those who share it."""

    def __init__(self, passed: float) -> None:
        self.passed = passed


_LINE: ContextVar[_Line | None] = ContextVar("line", default=None)


class StillClock:
    """`ports.Clock` that stands still but for what was waited for and, with each turn that begins, a second. Its waits
    are real ones. What works side by side has each a time of its own (`apart`), so that none is later because another
    waited. Safe from any thread."""

    def __init__(self, start: float = START) -> None:
        self._start = start
        self._main = _Line(0.0)
        self._lock = Lock()

    def now(self) -> float:
        return self._start + self.elapsed()

    def elapsed(self) -> float:
        return (_LINE.get() or self._main).passed

    def chance(self) -> float:
        return 0.5

    async def sleep(self, seconds: float) -> None:
        end = self.elapsed() + seconds
        await asyncio.sleep(seconds)
        self.reaches(end)

    def reaches(self, elapsed: float) -> None:
        """It is at least so late here: of what was waited for at once, the longest counts."""
        line = _LINE.get() or self._main
        with self._lock:
            line.passed = max(line.passed, elapsed)


class Hurried:
    """`clock`, but nobody is kept waiting: a wait passes at once, and all of its time has passed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._skipped = 0.0

    def now(self) -> float:
        return self._clock.now() + self._skipped

    def elapsed(self) -> float:
        return self._clock.elapsed() + self._skipped

    def chance(self) -> float:
        return self._clock.chance()

    async def sleep(self, seconds: float) -> None:
        end = self.elapsed() + seconds
        await asyncio.sleep(0)
        if isinstance(self._clock, StillClock):
            self._clock.reaches(end)
        else:
            self._skipped += max(end - self.elapsed(), 0.0)


def turn_begins(clock: Clock) -> None:
    """What begins now is later than what was before it, also where nothing was waited for."""
    meets(clock, clock.elapsed() + TURN)


def meets(clock: Clock, elapsed: float) -> None:
    """What happened at `elapsed`, in a time of its own perhaps, is told: here it is no earlier than that."""
    if isinstance(clock, StillClock):
        clock.reaches(elapsed)


def apart(clock: Clock) -> None:
    """The task that calls this, and those it makes, have a time of their own from here on."""
    if isinstance(clock, StillClock):
        _LINE.set(_Line(clock.elapsed()))


def steady(clock: Clock) -> bool:
    """What is told by it is to be the same each time, so nothing may depend on who was faster."""
    return isinstance(clock, StillClock | Hurried)


def guard(clock: Clock) -> Callable[[float], Coroutine[Any, Any, None]]:
    """The sleep of a deadline or of a look that is taken now and then. Those count real time, whatever is told: a clock
    that stands still, or that passes waits at once, is not asked, and not moved."""
    return asyncio.sleep if steady(clock) else clock.sleep


def counted_call_ids() -> Callable[[], str]:
    """Ids for calls that come without one: nine alphanumerics, counted."""
    numbers = count(1)
    return lambda: f"call{next(numbers):05}"


class CountedIds:
    """Ids as `ids.fresh_id` makes them, but the same in each process, and in the order in which they were made. Those
    that are ``taken`` are passed over; of several at once in one home each has a ``series`` of its own."""

    def __init__(self, taken: Callable[[str], bool], series: int = 0) -> None:
        self._taken = taken
        self._series = series
        self._count = 0
        self._lock = Lock()

    def __call__(self) -> str:
        with self._lock:
            while self._taken(made := self._next()):
                pass
            return made

    def _next(self) -> str:
        self._count += 1
        rest = blake2b(f"{self._series}.{self._count}".encode(), digest_size=16).hexdigest()
        return f"{self._count:04x}{rest}"[:32]
