"""Running a coroutine from plain code, in a notebook (whose loop is busy with the cell) as well as in a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from hermes_kernel.world.interrupt import pressing
from hermes_kernel.world.loop_thread import close_emptied, looping
from hermes_kernel.world.tools.usercode import inside_user_code

T = TypeVar("T")

_ENDING_SECONDS = 2.0
_LAST_SECONDS = 1.0  # for a thread to leave its loop, which code of a person's may hold up


class Blocking:
    """One event loop that outlives its calls, so that what is bound to a loop (connections) lives on between them.

    The loop runs in the caller's thread; where that has a running loop already, in a thread of its own. One call has it
    at a time. What is asked for meanwhile, be it by what runs there, has a loop of its own, in which it is told, as any
    work beside a turn, that one is running. ``stop`` asks the work there to end soon: a Ctrl-C reaches only who waits
    for it.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._mine = threading.Lock()  # held by whoever uses the two
        self._closing = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, or whatever it raised. Ctrl-C stops it cleanly; a second one no longer waits for it."""
        work = self._pressed(work)
        if self._runs_here() or not self._mine.acquire(blocking=False):
            return self._apart(work)
        try:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
            if self._thread is None and not looping():
                return self._loop.run_until_complete(work)
            return self._waited(self._there(work, self._loop))
        finally:
            self._let_go()

    def close(self) -> None:
        """End the loop and its thread. What was asked to end has two seconds for it; what still runs then, or waits for
        this very call, ends the loop when it is over."""
        self._closing = True
        if not self._runs_here() and self._mine.acquire(timeout=_ENDING_SECONDS):
            self._let_go()

    def _runs_here(self) -> bool:
        return looping() and asyncio.get_running_loop() is self._loop

    def _apart(self, work: Coroutine[Any, Any, T]) -> T:
        """In a loop of its own; where this thread has a running one, on another thread."""
        if not looping():
            return asyncio.run(work)
        with ThreadPoolExecutor(1, "hermes") as thread:
            return self._waited(thread.submit(asyncio.run, work))

    def _there(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> Future[T]:
        if self._thread is None:
            self._thread = threading.Thread(target=_serve, args=(loop,), name="hermes", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, loop)

    def _waited(self, result: Future[T]) -> T:
        try:
            return result.result()
        except KeyboardInterrupt:
            self._stop()
            return result.result()

    async def _pressed(self, work: Coroutine[Any, Any, T]) -> T:
        with pressing(self._stop, inside_user_code):
            return await work

    def _let_go(self) -> None:
        """Let others have the loop, or nobody any more."""
        try:
            if self._closing:
                self._end()
        finally:
            self._mine.release()

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop, self._thread, self._closing = None, None, False
        if loop is None:
            return
        if thread is not None:
            wait((asyncio.run_coroutine_threadsafe(_others(), loop),), _ENDING_SECONDS)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(_LAST_SECONDS)
        elif looping():  # another loop, beside which what is left on this one cannot be seen to
            loop.close()
        else:
            close_emptied(loop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        close_emptied(loop)


async def _others() -> None:
    """Wait for what else runs on this loop."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        await asyncio.wait(tasks)
