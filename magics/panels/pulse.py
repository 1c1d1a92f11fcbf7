"""What panels of things that go on share: a list that is filled again, by itself while something in it goes on, and a
consent that is only given once somebody could read what to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from magics.panels.board import READ

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.panels.board import Board, Deed

EVERY = 2.0  # seconds between two looks, and
SHARE = 5.0  # at least so many times as long as one takes
LEAST, MOST = 3, 8  # rows of a list


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


def refill(board: Board, listing: Any, options: Sequence[tuple[str, Any]], value: Any) -> None:
    """Other rows, where they are others: a list that is put anew jumps back to its top. It is as high as it needs."""
    listing.rows = min(max(len(options), LEAST), MOST)
    if [tuple(each) for each in listing.options] != list(options) or listing.value != value:
        board.fill(listing, options, value)
