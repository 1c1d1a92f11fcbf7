"""How a connection came to its end, told to all who wait for it, with the last that was heard from the other side."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.naming import seen

LAST = 4_000  # bytes of what it wrote for people that are kept
SHOWN = 300  # characters of it in an error


class Ending:
    """One connection's end. The first reason stands."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.why = ""
        self.group = 0  # of processes, while there is one
        self.status = ""  # how the last request was refused, where it was
        self._last = bytearray()

    def come(self, why: str) -> None:
        """It has ended."""
        self.why = self.why or why
        self.reached.set()

    def kill(self) -> None:
        """End its processes at once, where it has any."""
        if self.group and hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, signal.SIGKILL)

    def hear(self, written: bytes) -> None:
        """Something that it wrote for people, on stderr or among its messages."""
        self._last += written[-LAST:]
        del self._last[:-LAST]

    @property
    def words(self) -> str:
        """Why, and its last words."""
        last = brief(seen(self._last.decode("utf-8", "replace")[-SHOWN:], SHOWN), SHOWN)
        return "; ".join(filter(None, (self.why, self.status, last and f"it wrote: {last}")))
