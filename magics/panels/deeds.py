"""What is done with the chosen one of a list: on a thread, in one readable line where it is refused, and then what is
there is read again, for others may have been at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_kernel.errors import HermesError

if TYPE_CHECKING:
    from magics.panels.board import Board, Deed

T = TypeVar("T")
K = TypeVar("K")

LEAST, MOST = 3, 8  # rows of a list
CHOOSE = "Choose one in the list first."
MEANWHILE = "It was changed meanwhile. What it is now is shown: read it, then press again."


class Work:
    """``look`` reads again what there is. What goes wrong in ``explained`` leaves it as a `HermesError` of one line."""

    def __init__(self, board: Board, look: Deed, explained: Callable[[], AbstractContextManager[None]]) -> None:
        self._board = board
        self._look = look
        self._explained = explained

    async def away(self, work: Callable[..., T], *args: Any) -> T:
        """What `work` gives, found on a thread."""
        with self._explained():
            return await self._board.away(work, *args)

    async def done(self, work: Callable[..., T], *args: Any) -> T:
        """The same. Where it is refused, what is there now is shown."""
        try:
            return await self.away(work, *args)
        except HermesError:
            await self._look()
            raise

    async def after(self, said: str) -> None:
        """It is done: what is there now is shown, and what came of it said."""
        await self._look()
        self._board.say(said, "person")


def as_shown(now: object, shown: object) -> None:
    """A person consents to what was shown to them.

    Raises:
        HermesError: it is something else now.
    """
    if now != shown:
        raise HermesError(MEANWHILE)


def still(chosen: K | None, there: Iterable[K]) -> K | None:
    """What was chosen, if it is there, else the first; None where there is none."""
    keys = tuple(there)
    return chosen if chosen in keys else next(iter(keys), None)


def refill(board: Board, listing: Any, options: Sequence[tuple[str, Any]], value: Any) -> None:
    """Other rows, where they are others: a list that is put anew jumps back to its top. It is as high as it needs."""
    listing.rows = min(max(len(options), LEAST), MOST)
    if [tuple(each) for each in listing.options] != list(options) or listing.value != value:
        board.fill(listing, options, value)
