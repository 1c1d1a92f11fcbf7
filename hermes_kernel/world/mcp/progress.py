"""What a call tells of how far it is, carried from the servers' loop to the turn's: a line a second at most."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from hermes_kernel.core.events import Noticed
from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.naming import seen
from hermes_kernel.world.tools.speaking import SPEAKER, Speaker

EVERY_SECONDS = 1.0
CHARACTERS = 200


class Heard:
    """Called on any thread; what it lets through is told where it was made. A server may send thousands a second."""

    def __init__(self, what: str, elapsed: Callable[[], float], safe: Callable[[str], str]) -> None:
        self._what = what
        self._safe = safe
        self._elapsed = elapsed
        self._told = float("-inf")
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str] = asyncio.Queue()

    def __call__(self, done: float, of: float | None, message: str) -> None:
        now = self._elapsed()
        if now - self._told < EVERY_SECONDS:
            return
        self._told = now
        far = f"{done:g} of {of:g}" if of else f"{done:g}"
        line = f"{self._what}: {brief(seen(message, CHARACTERS, self._safe), CHARACTERS) or far}"
        with contextlib.suppress(RuntimeError):  # the turn's loop has been closed meanwhile
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    async def tell(self, speaker: Speaker) -> None:
        """Hand each line on, for ever."""
        while True:
            await speaker.tell(Noticed(await self._lines.get()))


@asynccontextmanager
async def telling(what: str, elapsed: Callable[[], float], safe: Callable[[str], str]) -> AsyncIterator[Heard]:
    """Something that is told how far a call is while this lasts; whoever watches the turn sees it, but for what `safe`
    takes out."""
    heard = Heard(what, elapsed, safe)
    speaker = SPEAKER.get(None)
    task = asyncio.create_task(heard.tell(speaker)) if speaker else None
    try:
        yield heard
    finally:
        if task is not None:
            task.cancel()
