"""The last words of a process: the end of what it wrote to its own output, which is where it says why it did not start.
Read on the event loop, as long as there is anything to read; what it writes is never more than kept here."""

from __future__ import annotations

import asyncio
import errno
import os

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.tools.terminal import clean

KEPT_BYTES = 16_000
LINE_CHARS = 300
TAKEN = os.strerror(errno.EADDRINUSE).encode()
STARTS = 3
"""How often a kernel is started whose ports were taken. They are chosen before it starts (`jupyter_client`), and any
other process may be quicker in the second that it needs to bind them."""


class LastWords:
    """A pipe whose end ``write`` is the process's; the process has its own once it runs (`started`)."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._read, self.write = os.pipe()
        self._open = {self._read, self.write}
        self._kept = b""
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
        if not piece:
            self._loop.remove_reader(self._read)

    def _close(self, end: int) -> None:
        if end in self._open:
            self._open.discard(end)
            os.close(end)
