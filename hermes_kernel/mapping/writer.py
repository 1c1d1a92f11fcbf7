"""The store's pen in a thread of its own: waiting for the disk holds up the row whose facts they are, and no other."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from hermes_kernel.core.events import Kept
from hermes_kernel.world.ports import Log


class Writer:
    """Appends to a log from a loop that goes on meanwhile."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._thread = ThreadPoolExecutor(1, "hermes-map")

    async def append(self, session_id: str, *events: Kept) -> None:
        """On disk when it returns, as `Log.append`.

        Raises:
            StoreError: the disk is full or the home is read-only; nothing was written.
        """
        write = partial(self._log.append, session_id, *events)
        await asyncio.get_running_loop().run_in_executor(self._thread, write)

    def close(self) -> None:
        """Return when what was begun is written."""
        self._thread.shutdown()
