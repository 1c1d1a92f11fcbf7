"""What panels of things that go on share: they look again by themselves, and their document is as things are then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.panels.board import Board, Deed

EVERY = 2.0  # seconds between two looks, and
SHARE = 5.0  # at least so many times as long as one takes


class Pulse:
    """Does ``deed`` again and again, as long as the panel is there and somebody finds that something goes on. What
    takes long is done more seldom."""

    def __init__(self, board: Board, deed: Deed) -> None:
        self._board = board
        self._deed = deed
        self._waits = False
        self._took = 0.0

    def goes_on(self, something: bool) -> None:  # noqa: FBT001 - the one thing that is said
        """There is something to look at again, or nothing."""
        if something and not self._waits:
            self._waits = True
            self._board.later(max(EVERY, SHARE * self._took), self._beat)

    async def _beat(self) -> None:
        self._waits, began = False, time.monotonic()
        await self._deed()
        self._took = time.monotonic() - began


class Anew:
    """A document: at first the one that there is already, later as things are then."""

    def __init__(self, first: Shown, make: Callable[[], Shown]) -> None:
        self._first: Shown | None = first
        self._make = make

    def __call__(self) -> Shown:
        first, self._first = self._first, None
        return self._make() if first is None else first
