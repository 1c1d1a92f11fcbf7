"""The panel of jobs: what comes next, and what came of it last; run now, pause, stop, at other times, removed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.schedule.rows import RunRow
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.faces.doing import RECENT, coming, do
from hermes_kernel.scheduling.faces.telling import Told
from hermes_kernel.scheduling.standing import Standing
from hermes_kernel.view.kept.pages import PAGE
from hermes_kernel.view.markup import marked
from magics.commands import jobs as documents
from magics.panels.board import Board
from magics.panels.deeds import refill, still
from magics.panels.planned import job_options, job_page, understood_html
from magics.panels.pulse import Anew, Pulse
from magics.verdict import readable

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

GONE = "That job was removed meanwhile by somebody else."
TIMES = "such as every monday 9am, in 90 minutes, 30 18 * * 1-5"


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel: of all, or of all with one chosen."""
    one = shown.value.job.id if isinstance(shown.value, Standing) else ""
    anew = Anew(shown, lambda: documents.jobs(desk, rest))
    return (lambda: JobsPanel(desk, anew, one).open()) if one or not rest else None


class JobsPanel:
    """A list, the chosen job, and what can be done with it. What goes on is looked at again by itself."""

    def __init__(self, desk: Desk, shown: Callable[[], Shown], chosen: str = "") -> None:
        self._hands = documents.hands(desk)
        self._board = board = Board(desk, "jobs", shown)
        self._pulse = Pulse(board, self._look)
        self._chosen = chosen
        self._there: tuple[Standing, ...] = ()
        self._changing: Standing | None = None
        self._understood = ""
        self._list = board.listing("Jobs", self._choose, rows=6)
        self._page = board.page(name=PAGE)
        self._run = board.button("Run now", partial(self._do, "run"), hint="Have it run once, whatever its times")
        self._pause = board.button("Pause", partial(self._do, "pause"), hint="Let nothing of it be due")
        self._resume = board.button("Resume", partial(self._do, "resume"), hint="Have it go on from now")
        self._stop = board.button("Stop", self._end, hint="End the run that goes on")
        self._times = board.button("Other times…", self._begin_changing, hint="Change when it runs")
        self._remove = board.button("Remove", partial(self._do, "remove"), sure="Remove it: press again")
        self._deeds = board.row()
        self._when = board.field("When", self._typed, hint=TIMES)
        self._means = board.page()
        self._save = board.button("Save", self._saved)
        self._cancel = board.button("Cancel", self._close_editor)
        self._asked = board.row(self._when, self._save, self._cancel)
        self._editor = board.column()

    def open(self) -> None:
        """Show it, and what there is."""
        self._board.show(self._list, self._page, self._deeds, self._editor)
        self._board.do(self._look)

    # --- looking

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        self._there, runs = await self._board.away(self._read)
        job = self._job()
        refill(self._board, self._list, job_options(self._there), self._chosen)
        self._page.value = job_page(job, runs, self._hands.jobs.clock.now())
        deeds = self._offered(job)
        if self._deeds.children != deeds:
            self._deeds.children = deeds
        self._pulse.goes_on(any(each.running or each.waiting for each in self._there))

    def _read(self) -> tuple[tuple[Standing, ...], tuple[RunRow, ...]]:
        with readable():
            jobs = do(self._hands, Namespace(verb="list")).value
            self._chosen = still(self._chosen, (each.job.id for each in jobs)) or ""
            return jobs, self._hands.jobs.runs(self._chosen, RECENT) if self._chosen else ()

    def _job(self) -> Standing | None:
        return next((each for each in self._there if each.job.id == self._chosen), None)

    def _offered(self, job: Standing | None) -> tuple[Any, ...]:
        if job is None:
            return ()
        goes = (self._stop,) if job.running or job.waiting else ()
        return (self._run, *goes, self._pause if job.job.enabled else self._resume, self._times, self._remove)

    async def _choose(self, job: str | None) -> None:
        self._board.say("")
        self._chosen = job or ""
        await self._look()
        if job and self._chosen != job:
            self._board.say(GONE, "slow")

    # --- doing

    async def _do(self, verb: str) -> None:
        """One of the words of the command line, with the chosen job."""
        await self._done(Namespace(verb=verb, which=self._one().job.id))

    async def _end(self) -> None:
        job = self._one()
        await self._done(Namespace(verb="stop", which=job.running or job.waiting[0]))

    async def _done(self, words: Namespace) -> None:
        try:
            with readable():
                told = await self._board.away(do, self._hands, words)
        finally:
            await self._look()
        self._board.say(_said(told), "person")

    def _one(self) -> Standing:
        job = self._job()
        if job is None:
            raise HermesError("Choose a job in the list first.")
        return job

    # --- at other times

    async def _begin_changing(self) -> None:
        job = self._changing = self._one()
        self._board.quietly(lambda: setattr(self._when, "value", job.job.schedule))
        self._editor.children = (self._asked, self._means)
        await self._typed(job.job.schedule)

    async def _typed(self, text: str) -> None:
        """Say back what was understood; nothing is changed by that."""
        self._understood = ""
        zone = self._changing.job.zone if self._changing else ""
        asked = Namespace(when=text, zone=zone, since="", n=3)
        try:
            jobs = self._hands.jobs
            told = await self._board.away(coming, asked, jobs.clock.now(), jobs.zone())
        except HermesError as error:
            self._means.value = marked(str(error), "slow")
        else:
            self._understood, self._means.value = text, understood_html(told)
        self._save.disabled = not self._understood

    async def _saved(self) -> None:
        text, before = self._when.value, self._changing
        if before is None or text != self._understood:
            await self._typed(text)
            raise HermesError("Nothing was changed yet: read what that means, then save.")
        try:
            with readable():
                await self._board.away(self._keep, before, text)
        finally:
            await self._look()
        await self._close_editor()
        self._board.say(f"{before.job.name} runs at other times from now on.", "person")

    def _keep(self, before: Standing, text: str) -> None:
        jobs = self._hands.jobs
        jobs.keep(jobs.changed(before.job, when=text), before.job)

    async def _close_editor(self) -> None:
        self._changing, self._understood, self._editor.children = None, "", ()


def _said(told: Told) -> str:
    """What came of it, in a line: when it comes next, where that is told."""
    coming_next = next((f"next: {row[1]}." for row in told.rows if row[0] == "next"), "")
    return " ".join(filter(None, (coming_next, told.note)))
