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
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """The future of `work`, which begins at once. Cancelling it cancels the work. Safe from any thread."""
        if self._loop.is_closed():
            work.close()
            ended: Future[T] = Future()
            ended.cancel()
            return ended
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def end(self) -> None:
        """Cancel what still runs and let the thread go, once the loop is free. From the loop itself, too."""
        if not self._loop.is_closed():
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
