"""An event loop on a thread of its own: what is bound to it (sockets, children) serves callers on any loop, one after
another, and goes on to its end when a caller has gone."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

LAST_SECONDS = 0.2  # for the thread to leave its loop


class Closed(RuntimeError):
    """There is no such thread any more."""


class LoopThread:
    """Begun with the first piece of work, on a daemon thread: it never keeps the process from its end. Safe from any
    thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._gate = threading.RLock()  # a signal handler may come in where its own thread is just passing
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._gone: Future[None] = Future()
        self._closed = False

    @property
    def begun(self) -> bool:
        """There is a thread, and it takes work."""
        return self._loop is not None and not self._closed

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have `work` done there; cancelling the future cancels it.

        Raises:
            Closed: after `end` or `close`.
        """
        try:
            with self._gate:
                return asyncio.run_coroutine_threadsafe(work, self._begun())
        except Closed:
            work.close()
            raise

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is done there, to whoever awaits here; given up here, it is cancelled there.

        Raises:
            Closed: after `end` or `close`.
            Exception: whatever `work` raised.
        """
        return await asyncio.wrap_future(self.submit(work))

    def close(self, ending: Callable[[], Coroutine[Any, Any, None]], seconds: float) -> None:
        """Do `ending` there, for at most so many seconds, then `end`, and wait a moment until the thread has gone."""
        with self._gate:
            closed, self._closed = self._closed, True
            loop, thread = self._loop, self._thread
        if closed or loop is None or thread is None:
            return
        wait((asyncio.run_coroutine_threadsafe(ending(), loop),), seconds)
        _stop(loop)
        thread.join(LAST_SECONDS)

    def end(self) -> None:
        """Cancel what still runs and let the thread go, once the loop is free. From the loop itself, too."""
        with self._gate:
            closed, self._closed = self._closed, True
        if not closed and self._loop is not None:
            _stop(self._loop)

    def when_gone(self, then: Callable[[], None]) -> None:
        """Have `then` called when the thread has done its last work, which may be later than `end`; by whoever asks,
        where it has. Not at all, where nothing was begun."""
        if self._loop is not None:
            self._gone.add_done_callback(lambda _: then())

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._closed:
            raise Closed("it is closed")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop, self._gone), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


def looping() -> bool:
    """An event loop runs on this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def close_emptied(loop: asyncio.AbstractEventLoop) -> None:
    """Close `loop`, which runs no more. Whoever waits for what is left on it learns that it will not be done."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.close()


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(RuntimeError):  # it is closed
        loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop, gone: Future[None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        close_emptied(loop)
        asyncio.set_event_loop(None)
        gone.set_result(None)
