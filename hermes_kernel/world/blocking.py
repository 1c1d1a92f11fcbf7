"""Running a coroutine from plain code, in a notebook (whose loop is busy with the cell) as well as in a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Blocking:
    """One event loop that outlives its calls, so that what is bound to a loop (connections) lives on between them.

    The loop runs in the caller's thread; where that has a running loop already, in a thread of its own.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, or whatever it raised."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        if self._thread is None and not _running():
            return self._loop.run_until_complete(work)
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop.run_forever, name="hermes", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the loop and its thread. Nothing may be running on it."""
        if self._loop is None:
            return
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
        self._loop.close()
        self._loop = self._thread = None


def _running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
