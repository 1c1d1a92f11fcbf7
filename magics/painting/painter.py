"""Painters of one picture. *Still* paints one bundle at the end, the same for the same events; *scroll*, for
terminals, only ever adds lines: an answer of which a block is withdrawn is written anew, from its beginning; *live*, in
a module of its own, updates what a notebook shows. None knows what a turn does next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hermes_kernel.core.events import Event
from hermes_kernel.view import WITHDRAWN, Picture, clean, heading_plain, see, still

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Painter(Protocol):
    """Shows one turn, from its first event to its last."""

    def show(self, event: Event) -> None:
        """One more event."""
        ...

    def close(self) -> None:
        """The turn is over, or was given up."""
        ...


class Silent:
    """``--quiet``."""

    def show(self, event: Event) -> None:
        pass

    def close(self) -> None:
        pass


class Still:
    """One bundle at the end, the same for the same events."""

    def __init__(self, shell: InteractiveShell, blank: Picture, *, plain: bool) -> None:
        self._shell = shell
        self._plain = plain
        self._picture = blank

    def show(self, event: Event) -> None:
        self._picture = see(self._picture, event)

    def close(self) -> None:
        if self._picture.final is None:
            return
        bundle = still(self._picture)
        self._shell.display_pub.publish({"text/plain": bundle["text/plain"]} if self._plain else bundle)


class Scroll:
    """Blocks of the answer and tools as they are finished, as lines on stdout."""

    def __init__(self, blank: Picture) -> None:
        self._picture = blank
        self._blocks: tuple[str, ...] = ()

    def show(self, event: Event) -> None:
        before, self._picture = self._picture, see(self._picture, event)
        if self._picture.blocks[: len(self._blocks)] != self._blocks:
            self._print(f"[{WITHDRAWN}]")
            self._blocks = before.opening.blocks
        new = self._picture.blocks[len(self._blocks) :]
        if new:
            self._print("".join(new))
            self._blocks = self._picture.blocks

    def close(self) -> None:
        self._print(self._picture.tail)
        if self._picture.final is not None:
            print(heading_plain(self._picture), flush=True)  # noqa: T201 - a terminal's output

    def _print(self, text: str) -> None:
        if text.strip():
            print(clean(text).rstrip() + "\n", flush=True)  # noqa: T201 - a terminal's output
