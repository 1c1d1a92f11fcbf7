"""``%hermes loops``: the eight loops, what each wrote, and what has read it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.core.learning.loops import COLUMNS, cells
from magics.standing import nothing
from magics.table import Table

if TYPE_CHECKING:
    from magics.desk import Desk

NOTE = (
    "Each slower loop writes what a faster one reads. `%hermes usage` has what they cost, `%hermes show` what they did."
)


def loops(desk: Desk, rest: str) -> Table:
    """The table; its value is a tuple of eight `core.learning.loops.LoopRow`.

    Raises:
        HermesError: something follows, or the store cannot be read.
    """
    from hermes_kernel.learning import loops

    nothing("loops", rest)
    rows = loops.loops(desk.store, desk.settings, loops.standing(desk.agent.learning))
    return Table(COLUMNS, tuple(map(cells, rows)), rows, NOTE)
