"""The panel of the eight loops: what each wrote last, in rows that open, and the way to what there is to decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.loops import LoopRow, cells
from hermes_kernel.view.kept.pages import PAGE
from hermes_kernel.view.kept.spread import grid, heading
from hermes_kernel.view.markup import hint, opens, quiet
from magics.commands.curator import curator
from magics.commands.jobs import jobs
from magics.commands.loops import NOTE, Awaited, facts, named, read
from magics.commands.table import Page, Shown, Table, bundle
from magics.panels.board import Board, Deed

if TYPE_CHECKING:
    from magics.desk import Desk
    from magics.panels.faces import Face

READING = "The eight loops are being read."
HINTS = {
    "compression": "`%hermes compress` alone in a cell summarises now.",
    "nudge": "`%hermes nudge` alone in a cell looks now; `%hermes memory` has what it wrote.",
    "skill creation": "`%hermes review` alone in a cell looks now; `%hermes skills` has what it wrote.",
    "session accumulation": "`%hermes sessions` has them.",
    "schedule": "`%hermes jobs` has them, `%hermes runs` what they did.",
    "curator": "`%hermes curator` decides on its plan.",
}
ROOM = "padding:0 0 4px 1.1em"


def face(desk: Desk, _rest: str, shown: Shown) -> Face | None:
    """What opens the panel."""
    return (lambda: LoopsPanel(desk, shown).open()) if isinstance(shown, Awaited) else None


class LoopsPanel:
    """Eight rows, and below them what somebody wanted to see of two of them."""

    def __init__(self, desk: Desk, shown: Awaited) -> None:
        self._desk = desk
        self._table: Table | None = shown.table() if shown.made else None
        self._first = shown
        self._board = board = Board(desk, "loops", self._document)
        self._rows = board.page(quiet(READING) if self._table is None else rows_html(self._table.value))
        self._tools = board.row(
            board.button("Read again", self._again, hint="Read what they have written since"),
            board.button(
                "Curator's plan", self._shows("curator", lambda: curator(desk, "plan")), hint="What it means to do"
            ),
            board.button("Jobs", self._shows("jobs", lambda: jobs(desk, "")), hint="What is planned"),
        )
        self._below = board.page()
        self._shown = ""

    def open(self) -> None:
        """Show it at once, and what there is as soon as it is read."""
        self._board.show(self._rows, self._tools, self._below)
        if self._table is None:
            self._board.do(self._begin)

    def _document(self) -> Shown:
        return Page(READING, quiet(READING)) if self._table is None else self._table

    async def _begin(self) -> None:
        self._put(await self._board.away(self._first.table))
        self._board.restate()

    async def _again(self) -> None:
        self._put(await self._board.away(read, self._desk))
        self._board.say("As they are now.")

    def _put(self, table: Table) -> None:
        self._table = table
        self._rows.value = rows_html(table.value)

    def _shows(self, name: str, make: Callable[[], Shown]) -> Deed:
        async def show() -> None:
            if self._shown == name:
                self._shown, self._below.value = "", ""
                return
            html = (await self._board.away(lambda: bundle(make()))).get("text/html", "")
            self._shown, self._below.value = name, f'<div class="{PAGE}">{html}</div>'

        return show


def rows_html(rows: tuple[LoopRow, ...]) -> str:
    """A row for each, which opens on what it wrote last."""
    return "".join(map(_row, rows)) + hint(NOTE)


def _row(row: LoopRow) -> str:
    line = heading(named(row), f"{row.timescale} · {row.wrote} · last {cells(row)[3]}")
    return opens(line, f'<div style="{ROOM}">{grid(facts(row)[1:])}{hint(HINTS.get(row.loop, ""))}</div>')
