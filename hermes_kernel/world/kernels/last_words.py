"""The last words of a process: the end of what it wrote to its own output, which is where it says why it did not start.
Read on the event loop, as long as there is anything to read; what it writes is never more than kept here."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.tools.terminal import clean

KEPT_BYTES = 16_000
LINE_CHARS = 300
TAKEN = os.strerror(errno.EADDRINUSE).encode()
STARTS = 3
"""How often a kernel is started whose ports were taken. They are chosen before it starts (`jupyter_client`), and any
other process may be quicker in the second that it needs to bind them."""
HANG_SECONDS = 3.0
"""What a kernel is given to run all the same that found a port taken, as it does without the one of its heartbeat.
ipykernel 7.4 without the one of `iopub` neither runs nor dies: `IPKernelApp.close` waits for a socket left open."""


class LastWords:
    """A pipe whose end ``write`` is the process's; the process has its own once it runs (`started`)."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._read, self.write = os.pipe()
        self._open = {self._read, self.write}
        self._kept = b""
        self._limit: asyncio.Timeout | None = None
        os.set_blocking(self._read, False)
        self._loop.add_reader(self._read, self._take)

    def started(self) -> None:
        """The process holds its end: ours is closed, so that its death is the end of the pipe."""
        self._close(self.write)

    def line(self) -> str:
        """The last line that says anything, or ``""``."""
        if self._read in self._open:
            self._take()
        lines = [line for line in clean(self._kept.decode(errors="replace")).splitlines() if line.strip()]
        return brief(scrub(lines[-1]), LINE_CHARS) if lines else ""

    @property
    def taken(self) -> bool:
        """It found one of its ports taken: started once more, it is given others."""
        if self._read in self._open:
            self._take()
        return TAKEN in self._kept

    @contextlib.asynccontextmanager
    async def limit(self, seconds: float) -> AsyncIterator[None]:
        """What the process is waited for in, until it runs: so many seconds, and fewer once it finds a port taken.

        Raises:
            TimeoutError: it did not run within them.
        """
        async with asyncio.timeout(seconds) as limit:
            self._limit = limit
            self._hurry()
            try:
                yield
            finally:
                self._limit = None

    def close(self) -> None:
        """Let go of the pipe."""
        self.started()
        self._loop.remove_reader(self._read)
        self._close(self._read)

    def _take(self) -> None:
        try:
            piece = os.read(self._read, 65_536)
        except BlockingIOError:
            return
        self._kept = (self._kept + piece)[-KEPT_BYTES:]
        self._hurry()
        if not piece:
            self._loop.remove_reader(self._read)

    def _hurry(self) -> None:
        limit = self._limit
        if limit is not None and TAKEN in self._kept and not limit.expired():
            soon = self._loop.time() + HANG_SECONDS
            limit.reschedule(min(limit.when() or soon, soon))

    def _close(self, end: int) -> None:
        if end in self._open:
            self._open.discard(end)
            os.close(end)
