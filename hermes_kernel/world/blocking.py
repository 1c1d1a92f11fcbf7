"""Running a coroutine from plain code, in a notebook (whose loop is busy with the cell) as well as in a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

from hermes_kernel.world.interrupt import pressing
from hermes_kernel.world.loop_thread import looping
from hermes_kernel.world.tools.usercode import inside_user_code

T = TypeVar("T")

_ENDING_SECONDS = 2.0


class Blocking:
    """One event loop that outlives its calls, so that what is bound to a loop (connections) lives on between them.

    The loop runs in the caller's thread; where that has a running loop already, in a thread of its own. ``stop`` asks
    the work there to end soon: a Ctrl-C reaches only who waits for it.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._mine = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, or whatever it raised. Ctrl-C stops it cleanly; a second one no longer waits for it."""
        work = self._pressed(work)
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        if self._thread is None and not looping():
            return self._here(work, self._loop)
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop.run_forever, name="hermes", daemon=True)
            self._thread.start()
        result = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return result.result()
        except KeyboardInterrupt:
            self._stop()
            return result.result()

    def _here(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        """In the caller's thread. What another thread asks for meanwhile has a loop of its own, in which it is told, as
        any work beside a turn, that one is running."""
        if not self._mine.acquire(blocking=False):
            return asyncio.run(work)
        try:
            return loop.run_until_complete(work)
        finally:
            self._mine.release()

    async def _pressed(self, work: Coroutine[Any, Any, T]) -> T:
        with pressing(self._stop, inside_user_code):
            return await work

    def close(self) -> None:
        """End the loop and its thread. What was asked to end has two seconds for it."""
        if self._loop is None:
            return
        if self._thread is not None:
            wait((asyncio.run_coroutine_threadsafe(_others(), self._loop),), _ENDING_SECONDS)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
        self._loop.close()
        self._loop = self._thread = None


async def _others() -> None:
    """Wait for what else runs on this loop."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        await asyncio.wait(tasks)
