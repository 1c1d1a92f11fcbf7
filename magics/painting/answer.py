"""The text of a turn as it grows, in places that can be put again.

Keeps true: finished blocks are sent once, and the open tail again only within a share of the reply's size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from hermes_kernel.view import Picture, clean, sanitise
from hermes_kernel.view.rendered import markdown_html
from magics.painting.stage import Spot

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

ALLOWANCE = 16_000  # characters of the open tail that may be sent again, whatever the reply's size …
SHARE = 0.7  # … and beyond that, per character of the reply


class Place(Protocol):
    """Where one piece of Markdown is."""

    def put(self, text: str) -> None:
        """This, from here on."""
        ...

    def sketch(self, text: str) -> None:
        """This for now: it is still being written."""
        ...


class Answer:
    """Knows what it has sent, so that it sends no more than a share of the reply again. ``place`` makes the next place
    below the others."""

    def __init__(self, place: Callable[[], Place]) -> None:
        self._place = place
        self._blocks: tuple[str, ...] = ()
        self._places: list[tuple[int, Place]] = []
        self._open: Place | None = None
        self._tail = ""
        self._again = 0

    @property
    def blank(self) -> bool:
        return not self._places and self._open is None

    def paint(self, picture: Picture) -> None:
        self._settle(picture)
        tail = picture.tail
        if tail == self._tail or not tail.strip():
            return
        size = sum(map(len, picture.blocks)) + len(tail)
        if self._again + len(tail) <= ALLOWANCE + SHARE * size:
            self._again += len(tail)
            self._open = self._open or self._place()
            self._open.sketch(tail)
            self._tail = tail

    def finish(self, picture: Picture) -> None:
        """Everything as it stays, whatever was left out so far."""
        self._settle(picture)
        if picture.tail.strip():
            self._open = self._open or self._place()
            self._open.put(picture.tail)
        elif self._open is not None:
            self._open.put("")

    def _settle(self, picture: Picture) -> None:
        """Blocks that are finished since the last time, in one piece; what was withdrawn is taken back first."""
        if picture.blocks[: len(self._blocks)] != self._blocks:
            self._withdraw(picture.blocks)
        new = "".join(picture.blocks[len(self._blocks) :])
        if not new:
            return
        place = self._open or self._place()
        place.put(new)
        self._blocks = picture.blocks
        self._places.append((len(self._blocks), place))
        self._open, self._tail = None, ""

    def _withdraw(self, blocks: tuple[str, ...]) -> None:
        """Empty every place that holds a block which is no more, from the first such on."""
        same = next((n for n, (a, b) in enumerate(zip(self._blocks, blocks, strict=False)) if a != b), len(blocks))
        while self._places and self._places[-1][0] > same:
            self._places.pop()[1].put("")
        self._blocks = blocks[: self._places[-1][0] if self._places else 0]
        if self._open is not None:
            self._open.put("")
        self._open, self._tail = None, ""


class Output:
    """An output of the cell, which stays in the notebook as Markdown."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._spot = Spot(shell)

    def put(self, text: str) -> None:
        self._spot.put({"text/markdown": sanitise(text).strip("\n"), "text/plain": clean(text).strip("\n")})

    def sketch(self, text: str) -> None:
        self._spot.put({"text/markdown": sanitise(text).strip("\n")})


class Leaf:
    """A widget, for a page that cannot see the outputs; `text` makes it, `box` holds them all."""

    def __init__(self, text: Callable[[], Any], box: Any) -> None:
        self._html = text()
        box.children = (*box.children, self._html)

    def put(self, text: str) -> None:
        self._html.value = markdown_html(text)

    sketch = put
