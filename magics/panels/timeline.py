"""The panel of what a turn was busy with, when: one of the turns of a conversation, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.core.text import brief
from hermes_kernel.looking.timeline import LAST
from hermes_kernel.view.charts.spans import Play
from hermes_kernel.view.charts.waterfall import Timeline
from magics.commands.timeline import ALL, page, session_of, told, turns_of, wanted
from magics.panels.board import Board

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

CHOICES = 200  # turns to choose from, the latest
PROMPT = 60  # characters


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel, on what was asked for."""
    return lambda: TimelinePanel(desk, rest, shown).open()


class TimelinePanel:
    """A turn to choose, and its picture. A turn that goes on is shown as far as it is when it is read."""

    def __init__(self, desk: Desk, rest: str, shown: Shown) -> None:
        asked = wanted(rest)
        self._store, self._session, self._turn = desk.store, session_of(desk, asked.name), asked.turn
        self._shown = shown
        self._board = board = Board(desk, "timeline", lambda: self._shown)
        self._choice = board.choice("Show", [("the last turn", LAST), ("all turns", ALL)], self._choose)
        self._choice.layout.max_width = "calc(100% - 4px)"
        self._again = board.button("Read again", self._look, hint="What has happened meanwhile")
        self._page = board.page(page(shown.value).html)

    def open(self) -> None:
        """Show it, and which turns there are."""
        self._board.show(self._board.row(self._choice, self._again), self._page)
        self._board.do(self._look)

    async def _choose(self, turn: int) -> None:
        self._turn = turn
        await self._look()

    async def _look(self) -> None:
        found, made = await self._board.away(self._read)
        options = _options(found)
        if [value for _, value in options] != [value for _, value in self._choice.options]:
            self._board.fill(self._choice, options, self._turn)
        elif self._choice.value != self._turn:
            self._board.quietly(lambda: setattr(self._choice, "value", self._turn))
        self._shown = page(made)
        self._page.value = self._shown.html
        self._board.say("")

    def _read(self) -> tuple[tuple[Play, ...], Timeline]:
        found = turns_of(self._store, self._session)
        return found, told(self._store, found, self._session, self._turn)


def _options(found: tuple[Play, ...]) -> list[tuple[str, int]]:
    turns = [(f"turn {play.number}: {brief(play.prompt, PROMPT)}", play.number) for play in found if play.number]
    return [("the last turn", LAST), ("all turns", ALL), *reversed(turns[-CHOICES:])]
