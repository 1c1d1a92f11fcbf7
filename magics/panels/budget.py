"""The panel of the budget of a turn: how much of it is gone, what the turns before took, what the next one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.settings import RANGES
from magics.commands.standing import budgeted, turns_before
from magics.commands.table import bundle
from magics.panels.board import Board
from magics.panels.pulse import Pulse

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

NAME = "max_iterations"


def face(desk: Desk, _rest: str, shown: Shown) -> Face | None:
    """What opens the panel."""
    return lambda: BudgetPanel(desk, shown).open()


class BudgetPanel:
    """The meter with the turns before, and the number, to be set from the next turn on."""

    def __init__(self, desk: Desk, shown: Shown) -> None:
        self._desk, self._shown = desk, shown
        self._board = board = Board(desk, "budget", lambda: self._shown)
        self._pulse = Pulse(board, self._look)
        self._page = board.page(bundle(shown)["text/html"])
        self._number = board.field("Calls a turn may make", hint=RANGES[NAME].allowed)
        self._set = board.button("Set", self._change, hint="From the next turn on")
        self._again = board.button("Read again", self._look, hint="What was used meanwhile")

    def open(self) -> None:
        """Show it; while a turn runs it is read again and again."""
        self._board.quietly(lambda: setattr(self._number, "value", str(self._desk.settings.max_iterations)))
        self._number.layout.width = "18em"
        self._board.show(self._page, self._board.row(self._number, self._set, self._again))
        self._pulse.goes_on(self._desk.running)

    async def _change(self) -> None:
        self._desk.configure(**{NAME: self._number.value.strip()})
        await self._look()
        self._board.say(f"A turn may make {self._desk.settings.max_iterations:,} calls from the next one on.", "person")

    async def _look(self) -> None:
        turns = await self._board.away(turns_before, self._desk)
        self._shown = budgeted(self._desk, turns)
        self._page.value = bundle(self._shown)["text/html"]
        self._pulse.goes_on(self._desk.running)
