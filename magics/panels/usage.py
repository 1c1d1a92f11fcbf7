"""The panel of what models have used: by what, and of how many days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.core.figures import counted
from hermes_kernel.looking import BY
from magics.commands.table import bundle
from magics.commands.usage import asked, told
from magics.panels.board import Board

if TYPE_CHECKING:
    from hermes_kernel.world.store import By
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

HERE, EVER = "this conversation", "all there is"
DAYS = (1, 7, 30, 90)


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel, on what was asked for."""
    return lambda: UsagePanel(desk, rest, shown).open()


class UsagePanel:
    """Two choices, and the table with its chart that they ask for. Much may be read for it, which is done aside."""

    def __init__(self, desk: Desk, rest: str, shown: Shown) -> None:
        self._desk, self._shown = desk, shown
        self._what: By | None
        self._what, self._days = asked(rest)
        self._board = board = Board(desk, "usage", lambda: self._shown)
        days = sorted({*DAYS, self._days or DAYS[0]})
        spans = [(f"the last {counted(each, 'day')}" if each > 1 else "today", each) for each in days]
        self._by = board.choice("Usage of", [(HERE, ""), *((f"all, by {each}", each) for each in BY)], self._choose_by)
        self._of = board.choice("In", [(EVER, 0), *spans], self._choose_days)
        self._again = board.button("Read again", self._look, hint="What was used meanwhile")
        self._page = board.page(bundle(shown)["text/html"])

    def open(self) -> None:
        """Show what was asked for."""
        self._board.quietly(self._set)
        self._board.show(self._board.row(self._by, self._of, self._again), self._page)

    def _set(self) -> None:
        self._by.value, self._of.value = self._what or "", self._days or 0
        self._of.disabled = self._what is None

    async def _choose_by(self, what: By | str) -> None:
        self._what = next((each for each in BY if each == what), None)
        self._of.disabled = self._what is None
        await self._look()

    async def _choose_days(self, days: int) -> None:
        self._days = days or None
        await self._look()

    async def _look(self) -> None:
        self._board.say("Reading …")
        self._shown = await self._board.away(told, self._desk, self._what, self._days)
        self._page.value = bundle(self._shown)["text/html"]
        self._board.say("")
