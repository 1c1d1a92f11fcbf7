"""nbclient's client, which says when an output has changed, and of a notebook that shows without end keeps the
beginning: what prints for ever fills no memory and no disk, and leaves a notebook that can be opened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nbclient import NotebookClient

if TYPE_CHECKING:
    from nbformat import NotebookNode

MOST = 50_000_000  # characters that the cells of a notebook show together
LEFT = 1_000_000  # of these, of the cell that showed too many
EACH = 1_000  # as many does an output count for beside what is in it
CUT = "\n[… it showed more than is kept]\n"


class Client(NotebookClient):
    """``changed`` is called whenever an output is new; ``full`` is set once more than ``most`` is shown, and from then
    on no output is kept."""

    changed: Callable[[], None] = staticmethod(lambda: None)
    most = MOST

    def __init__(self, nb: NotebookNode, **options: Any) -> None:
        super().__init__(nb, **options)
        self.full = asyncio.Event()
        self._shown = 0

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        if self.full.is_set() and msg["msg_type"] != "status":
            return None
        made: NotebookNode | None = super().process_message(msg, cell, cell_index)
        self._shown += EACH + size(msg["content"])
        if self._shown > self.most:
            self._shown = size([each.get("outputs") for each in self.nb.cells]) + size(self.widget_state)
            if self._shown > self.most:
                cell.outputs = beginning(cell.outputs)
                self.widget_state.clear()
                self.full.set()
        self.changed()
        return made


def size(value: Any) -> int:
    """How many characters there are in `value`, about."""
    match value:
        case str():
            return len(value)
        case list():
            return sum(EACH + size(each) for each in value)
        case Mapping():
            return sum(map(size, value.values()))
    return 0


def beginning(outputs: list[Any], most: int = LEFT) -> list[Any]:
    """Of `outputs` those that come first, and of printed words that are too many the first."""
    kept: list[Any] = []
    for output in outputs:
        room = most - size(kept)
        if size(output) > room:
            if output.output_type == "stream":
                kept.append({**output, "text": output.text[: max(0, room)] + CUT})
            break
        kept.append(output)
    return [type(outputs[0])(each) for each in kept]
