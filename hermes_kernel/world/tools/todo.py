"""`todo`: the agent's own list, replaced as a whole, so that a list and its latest state are never two things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.results import ToolError
from hermes_kernel.world.tools.tool import Tool, tool_of

ITEMS, CHARS = 256, 4_000
MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}

Status = Literal["pending", "in_progress", "completed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do."""

    content: str
    status: Status = "pending"


class Todos:
    """The list of one session."""

    def __init__(self) -> None:
        self.items: tuple[Item, ...] = ()

    def text(self) -> str:
        """The list as the model and a person read it."""
        lines = [f"{MARKS[item.status]} {item.content}" for item in self.items]
        done = sum(item.status in ("completed", "cancelled") for item in self.items)
        return "\n".join([*lines, f"{done} of {len(lines)} done."]) if lines else "The list is empty."


def make_todo(todos: Todos) -> Tool:
    """The tool that keeps `todos`."""

    def todo(items: Annotated[list[Item | str], "All items, in order, each with content and status."]) -> str:
        """Keep a list of what is to be done in a task of three or more steps. Send the whole list each time; one item
        is in_progress while you work. Returns the list."""
        whole = (Item(item) if isinstance(item, str) else item for item in items)
        kept = tuple(Item(brief(item.content, CHARS), item.status) for item in whole)
        if len(kept) > ITEMS:
            raise ToolError(f"A list holds at most {ITEMS} items, not {len(kept)}; put some together.")
        todos.items = kept
        return todos.text()

    return tool_of(todo, repeatable=True)
