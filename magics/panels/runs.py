"""The panel of runs: what became of each time, its report, its notebook, and an end for the one that goes on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.schedule.rows import RunRow
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.faces.doing import about, do
from hermes_kernel.scheduling.faces.telling import Told
from hermes_kernel.view.kept.pages import PAGE
from magics.commands import jobs as documents
from magics.options import split
from magics.panels.board import Board
from magics.panels.deeds import refill
from magics.panels.planned import ALIVE, notebook_html, run_options, run_page
from magics.panels.pulse import Anew, Pulse
from magics.panels.shelved import brought, here, left_by_a_run, link_to
from magics.verdict import readable

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

ALL = "all"
OUTCOMES = (ALL, "running", "waiting", "ran", "failed", "stopped", "skipped")


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel: of all runs, of those of a job, or of one."""
    words = split(rest)
    if words[:1] == ["stop"]:
        return None
    asked = documents.read(["runs", *words])
    return lambda: RunsPanel(desk, Anew(shown, lambda: documents.runs(desk, rest)), asked).open()


class RunsPanel:
    """A list, the chosen run, and what can be done with it. ``asked`` says which, as words on the command line do."""

    def __init__(self, desk: Desk, shown: Callable[[], Shown], asked: Namespace) -> None:
        self._hands = documents.hands(desk)
        self._asked = asked
        self._zone = self._hands.jobs.zone()
        self._board = board = Board(desk, "runs", shown)
        self._pulse = Pulse(board, self._look)
        self._outcome = ALL
        self._chosen = ""
        self._told: Told | None = None
        self._filter = board.choice("Show", [(each, each) for each in OUTCOMES], self._turn)
        self._list = board.listing("Runs", self._choose, rows=8)
        self._page = board.page(name=PAGE)
        self._link = board.linked()
        self._bring = board.button(
            "Bring its notebook here", self._brought, hint="Copy it beside this notebook, where a page can open it"
        )
        self._stop = board.button("Stop", self._end, hint="End this run")
        self._deeds = board.row()

    def open(self) -> None:
        """Show it, and what there is."""
        self._board.show(self._board.row(self._filter), self._list, self._page, self._link, self._deeds)
        self._board.do(self._look)

    # --- looking

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        rows, self._told = await self._board.away(self._read)
        refill(self._board, self._list, run_options(rows, self._zone), self._chosen or None)
        self._page.value = run_page(self._told, self._hands.jobs.clock.now())
        row = self._told.value if self._told else None
        self._board.link(self._link, await self._board.away(self._way, row) if row else "")
        self._deeds.children = await self._board.away(self._offered, row) if row else ()
        self._pulse.goes_on(any(each.outcome in ALIVE for each in rows))

    def _read(self) -> tuple[tuple[RunRow, ...], Told | None]:
        with readable():
            found = self._hands.jobs.runs(self._asked.which, self._asked.n)
            rows = tuple(each for each in found if self._outcome in (ALL, each.outcome))
            row = next((each for each in rows if each.run == self._chosen), next(iter(rows), None))
            self._chosen = row.run if row else ""
            return rows, about(self._hands.store, row, self._zone) if row else None

    def _way(self, row: RunRow) -> str:
        path = left_by_a_run(row.notebook, self._hands.jobs.home)
        return notebook_html(row, link_to(path, here()) if path else "")

    def _offered(self, row: RunRow) -> tuple[Any, ...]:
        path = left_by_a_run(row.notebook, self._hands.jobs.home)
        bring = (self._bring,) if path and not link_to(path, here()) and row.outcome not in ALIVE else ()
        return ((self._stop,) if row.outcome in ALIVE else ()) + bring

    async def _choose(self, run: str | None) -> None:
        self._board.say("")
        self._chosen = run or ""
        await self._look()

    async def _turn(self, outcome: str) -> None:
        self._outcome = outcome
        await self._choose(None)

    # --- doing

    async def _end(self) -> None:
        try:
            with readable():
                told = await self._board.away(do, self._hands, Namespace(verb="stop", which=self._one().run))
        finally:
            await self._look()
        self._board.say(told.note, "person")

    async def _brought(self) -> None:
        path = left_by_a_run(self._one().notebook, self._hands.jobs.home)
        if path is None:
            raise HermesError("Its notebook is not there any more.")
        copy = await self._board.away(brought, path, here())
        self._board.link(self._link, notebook_html(self._one(), link_to(copy, here())))
        self._deeds.children = ()
        self._board.say(f"A copy lies beside this notebook: {copy.name}", "person")

    def _one(self) -> RunRow:
        if self._told is None or not isinstance(self._told.value, RunRow):
            raise HermesError("Choose a run in the list first.")
        return self._told.value
