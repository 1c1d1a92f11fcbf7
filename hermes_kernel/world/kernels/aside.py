"""An event loop on a thread of its own: what is bound to it (sockets, a child) serves callers on any loop, one after
another, and goes on to its end when a caller has gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Aside:
    """The loop runs from here to `end`, on a daemon thread: it holds up nobody's exit."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._gate = threading.RLock()  # a signal handler may come in where its own thread is just passing
        self._ended = False
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """The future of `work`, which begins at once; a cancelled one after the end. Cancelling it cancels the work.
        Safe from any thread."""
        with self._gate:
            if not self._ended:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        refused: Future[T] = Future()
        refused.cancel()
        return refused

    def end(self) -> None:
        """Cancel what still runs and let the thread go, once the loop is free. From the loop itself, too."""
        with self._gate:
            if not self._ended:
                self._ended = True
                self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            asyncio.set_event_loop(None)
            self._loop.close()
