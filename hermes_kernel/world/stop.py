"""The stop latch: pressed from any thread or a signal handler, once and for good; everything that waits races it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 0.5  # for a cell that is stopped, before its kernel is killed: a stop is to take a second


class Stopped(Exception):
    """What was awaited was given up because the latch is pressed. Carried from a wait to its caller, never further."""


class Stop:
    """One turn's latch. A second press finds it pressed and changes nothing."""

    def __init__(self) -> None:
        self._by = ""
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._below: set[Stop] = set()

    @property
    def by(self) -> str:
        """Who pressed it first, or ``""``."""
        return self._by

    def press(self, by: str = "person") -> None:
        """Safe from any thread and from a signal handler; wakes every loop that waits."""
        self._by = self._by or by
        for loop, event in tuple(self._waiting):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
        for lower in tuple(self._below):
            lower.press(self._by)

    @contextmanager
    def below(self) -> Iterator[Stop]:
        """While it lasts, a latch that is pressed with this one, and can be pressed without it."""
        lower = Stop()
        self._below.add(lower)
        try:
            if self._by:
                lower.press(self._by)
            yield lower
        finally:
            self._below.discard(lower)

    async def wait(self) -> None:
        """Return once the latch is pressed."""
        entry = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(entry)
        try:
            if not self._by:
                await entry[1].wait()
        finally:
            self._waiting.discard(entry)

    @asynccontextmanager
    async def after(self, sleep: Callable[[float], Coroutine[Any, Any, None]], seconds: float) -> AsyncIterator[None]:
        """While it lasts, the latch is pressed by ``time`` once `seconds` have passed; 0 never."""
        timer = asyncio.ensure_future(self._press_after(sleep, seconds)) if seconds else None
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()

    async def _press_after(self, sleep: Callable[[float], Coroutine[Any, Any, None]], seconds: float) -> None:
        await sleep(seconds)
        self.press("time")

    async def race(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, unless the latch is pressed first: then `work` is cancelled and awaited.

        Raises:
            Stopped: the latch won.
            Exception: whatever `work` raised.
        """
        task = asyncio.ensure_future(work)
        latch = asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait({task, latch}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise Stopped(self._by)
        finally:
            for pending in (task, latch):
                if not pending.done():
                    pending.cancel()
            await asyncio.gather(task, latch, return_exceptions=True)
