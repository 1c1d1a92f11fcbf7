"""The panel of the curator: its plan decided item by item, what its reviews want, a run now, and the last one back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.curating import Move
from hermes_kernel.core.learning.curating_runs import INTERRUPTED, PLANNED, Run, sentence
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating.telling import outcome, readable, rehearsal
from hermes_kernel.learning.skills import asked
from hermes_kernel.learning.skills.choices import awaited
from hermes_kernel.view.kept.pages import PAGE
from hermes_kernel.world.stop import Stop
from magics.commands.curator import STOPPED
from magics.commands.curator import curator as document
from magics.panels.board import Board
from magics.panels.deeds import CHOOSE, Work, as_shown, refill, still
from magics.panels.skilled import Detail, in_a_line
from magics.panels.tended import Key, Tended, chosen, head, options, report_html, seen

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

RUNNING = "A run is under way: Stop ends it between two steps, and every skill stays whole."


def face(desk: Desk, rest: str, _shown: Shown) -> Face | None:
    """What opens the panel."""
    return None if rest not in ("", "plan") else lambda: CuratorPanel(desk, rest).open()


class CuratorPanel:
    """Where the curator stands, what is due and what waits, each with its two answers; and runs as a whole."""

    def __init__(self, desk: Desk, rest: str) -> None:
        self._lore = desk.agent.learning
        self._board = board = Board(desk, "curator", lambda: document(desk, rest))
        self._work = Work(board, self._look, in_a_line)
        self._seen, self._detail = Tended(), Detail()
        self._chosen: Key | None = None
        self._stop: Stop | None = None
        self._head = board.page()
        self._list = board.listing("What is due", self._choose, rows=6)
        self._page = board.page(name=PAGE)
        self._deeds, self._runs = board.row(), board.row()
        self._move = board.button("Do it now", self._moved, hint="Do this one now; the others wait for the next run")
        self._keep = board.button("Keep it: pin", self._kept, hint="A pinned skill is never moved by the curator")
        self._accept = board.button("Accept", self._agree)
        self._anyway = board.button("Accept…", self._agree, sure="Accept what is suspicious: press again")
        self._reject = board.button("Reject", self._refuse)
        self._run = board.button(
            "Run now…", self._played, hint="Do all that is due, and ask a model", sure="Do all of it: press again"
        )
        self._dry = board.button("Dry run", self._rehearsed, hint="What a run would do; a model may be asked")
        self._report = board.button("Last report", self._reported)
        self._back = board.button(
            "Take back the last run…", self._taken_back, sure="Put all skills back as before it: press again"
        )
        self._halt = board.button("Stop", self._halted)

    def open(self) -> None:
        """Show it, and what is there."""
        self._board.show(self._head, self._list, self._page, self._deeds, self._runs)
        self._board.do(self._look)

    # --- looking

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        self._seen = await self._work.away(seen, self._lore)
        there = self._seen.keys
        self._chosen = still(self._chosen, there)
        self._head.value = head(self._seen)
        self._list.layout.display = None if there else "none"
        refill(self._board, self._list, options(self._seen), self._chosen)
        await self._read()

    async def _read(self) -> None:
        self._detail = Detail()
        try:
            self._detail = await self._work.away(chosen, self._lore, self._chosen)
        finally:
            self._show(self._detail.html)

    def _show(self, page: str) -> None:
        self._page.value = page
        self._page.layout.display = None if page else "none"
        self._deeds.children = tuple(self._offered())
        self._runs.children = tuple(self._offered_of_runs())

    def _offered(self) -> Iterator[Any]:
        if "move" in self._detail.verbs:
            yield from (self._move, self._keep)
        if "accept" in self._detail.verbs:
            yield self._anyway if self._detail.known.findings else self._accept
            yield self._reject

    def _offered_of_runs(self) -> Iterator[Any]:
        if self._stop is not None:
            yield self._halt
            return
        yield from (self._run, self._dry)
        if self._seen.runs:
            yield self._report
        if self._seen.standing_runs:
            yield self._back

    async def _choose(self, key: Key | None) -> None:
        self._board.say("")
        self._chosen = key
        await self._read()

    # --- one item

    async def _moved(self) -> None:
        await self._work.after(await self._work.done(self._lore.curator.move, self._due()))

    async def _kept(self) -> None:
        name = self._due().name
        await self._work.done(asked.do, self._lore, name, "pin", ())
        await self._work.after(f"{name} is pinned: the curator leaves it as it is until you unpin it.")

    async def _agree(self) -> None:
        await self._work.after(await self._work.done(self._agreed, self._waits(), self._detail.known))

    def _agreed(self, identity: str, known: Any) -> str:
        as_shown(awaited(self._lore, identity), known)
        return self._lore.curator.accept(identity)

    async def _refuse(self) -> None:
        await self._work.after(await self._work.done(self._lore.curator.reject, self._waits()))

    # --- runs

    async def _played(self) -> None:
        self._begin(lambda stop: self._lore.curator.run(stop=stop), outcome)

    async def _rehearsed(self) -> None:
        self._begin(lambda stop: self._lore.curator.rehearse(stop=stop), rehearsal)

    async def _taken_back(self) -> None:
        name = self._seen.standing_runs[-1].id
        self._begin(lambda _: self._lore.curator.rollback(name), outcome)

    async def _reported(self) -> None:
        self._show(report_html(readable(await self._work.done(self._lore.curator.report))))

    async def _halted(self) -> None:
        if self._stop is not None:
            self._stop.press()

    def _begin(self, work: Callable[[Stop], Coroutine[Any, Any, Run]], told: Callable[[Run], str]) -> None:
        """Have this done while other things are; what came of it is shown when it is over."""
        if self._stop is not None:
            raise HermesError(RUNNING)
        self._stop = stop = Stop()
        self._board.say(RUNNING, "busy")
        self._show(self._detail.html)
        self._board.meanwhile(lambda: self._ended(work(stop), told))

    async def _ended(self, work: Coroutine[Any, Any, Run], told: Callable[[Run], str]) -> None:
        try:
            with in_a_line():
                run = await work
        finally:
            self._stop = None
            self._board.later(0, self._look)
        self._board.later(0, lambda: self._came(run, told(run)))

    async def _came(self, run: Run, text: str) -> None:
        self._show(report_html(text))
        said = {PLANNED: "Nothing was done: this is what a run would do.", INTERRUPTED: STOPPED}
        self._board.say(said.get(run.status, sentence(run)), "person")

    # --- with what

    def _due(self) -> Move:
        if not isinstance(self._chosen, Move):
            raise HermesError(CHOOSE)
        return self._chosen

    def _waits(self) -> str:
        if self._chosen is None or isinstance(self._chosen, Move):
            raise HermesError(CHOOSE)
        return self._chosen[1]
