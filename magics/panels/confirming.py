"""What takes a second press: of a button that asks whether that is meant, or once somebody could read what it is about.

Keeps true: a double click is one press.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from magics.panels.board import Deed

SURE = 6.0  # seconds in which a second press confirms
READ = 0.3  # seconds in which it does not: a double click is one press, and nobody has read what it asks


class Confirmed:
    """A button that asks once whether that is meant."""

    def __init__(self, loop: asyncio.AbstractEventLoop, button: Any, sure: str, deed: Deed) -> None:
        self._loop = loop
        self._button = button
        self._words = (button.description, sure)
        self._deed = deed
        self._asked: asyncio.TimerHandle | None = None
        self._since = 0.0

    async def press(self) -> None:
        """The first asks; the second, once it could be read, does it."""
        if self._asked is None:
            self._button.description = self._words[1]
            self._asked, self._since = self._loop.call_later(SURE, self._back), self._loop.time()
            return
        if self._loop.time() - self._since < READ:
            return
        self.forget()
        await self._deed()

    def forget(self) -> None:
        """Whoever was asked did something else."""
        if self._asked is not None:
            self._asked.cancel()
            self._back()

    def _back(self) -> None:
        self._asked = None
        self._button.description = self._words[0]


class Consent:
    """What somebody was told of before it is done: the same once more, when it could have been read, is meant."""

    def __init__(self) -> None:
        self._told: object = None
        self._at = 0.0

    def ask(self, what: object) -> None:
        """It is being told of."""
        self._told, self._at = what, time.monotonic()

    def given(self, what: object) -> bool:
        """Whether it was told of, and is meant. It is asked for once."""
        meant = self._told == what and time.monotonic() - self._at >= READ
        self._told = None
        return meant
