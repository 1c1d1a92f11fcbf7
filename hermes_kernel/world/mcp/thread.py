"""The one thread and event loop on which all servers of an agent live, whatever loops its turns run on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")


class Closed(RuntimeError):
    """There is no such thread any more."""


class Hosting:
    """A daemon thread: it never keeps the process from its end. Begun with the first piece of work."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def begun(self) -> bool:
        """There is a thread."""
        return self._loop is not None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have `work` done there.

        Raises:
            Closed: after `close`.
        """
        try:
            with self._lock:
                return asyncio.run_coroutine_threadsafe(work, self._begun())
        except Closed:
            work.close()
            raise

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is done there, to whoever awaits here; given up here, it is cancelled there.

        Raises:
            Closed: after `close`.
            Exception: whatever `work` raised.
        """
        return await asyncio.wrap_future(self.submit(work))

    def close(self, ending: Callable[[], Coroutine[Any, Any, None]], seconds: float) -> None:
        """Do `ending` there, for at most so many seconds, give up what else is being done, and end the thread."""
        with self._lock:
            self._closed, loop, self._loop = True, self._loop, None
        if loop is None or self._thread is None:
            return
        wait((asyncio.run_coroutine_threadsafe(ending(), loop),), seconds)
        wait((asyncio.run_coroutine_threadsafe(_give_up(), loop),), LAST_SECONDS)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join(LAST_SECONDS)

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._closed:
            raise Closed("it is closed")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


LAST_SECONDS = 0.1  # for the thread to leave its loop


async def _give_up() -> None:
    """Whoever waits for work here learns that it will not be done."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()
