"""One job, for as long as its claim is held: what `decide` says, step by step, until there is nothing left to do.

What a death between acting and writing down leaves behind decides which comes first. A beginning is written before
anything is run: then nothing runs twice, and what was cut off is closed as failed. A report is sent before that is
written: rather twice than never. Whatever only lets go of something is done by writing it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from hermes_kernel.core.figures import counted, span
from hermes_kernel.core.learnt import Dated, Lesson
from hermes_kernel.core.planned import UNREACHED, RunBegan, RunEnded, Skipped, Told
from hermes_kernel.core.safe import clean
from hermes_kernel.core.schedule.due import Begin, Close, Settle, Skip, Step, Tell, decide, who
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.ledger import Ledger, ledgers
from hermes_kernel.core.schedule.silence import asks_silence, without_mark
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.means import Handled, Means
from hermes_kernel.scheduling.ports import Ran, Report, Work
from hermes_kernel.scheduling.running.shelf import notebook_path
from hermes_kernel.world.run import NAME as RUN
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.tools.runaways import kill_marked

ENDED = "the scheduler ended"
"""Why a run was stopped that nobody meant."""
AGAIN = (1.0, 5.0, 30.0)
"""Seconds from one try to write down how a run ended to the next, while the disk is full or the store away."""
ASKS = 1.0  # seconds between two looks for a wish to stop that was written on another machine
SAID = 300  # characters of a line


class Acting:
    """On ``job``, by who holds its claim. ``tell`` is told what was done, when it was."""

    def __init__(self, means: Means, job: Job, tell: Callable[[Handled], object]) -> None:
        self._means = means
        self.job = job
        self._tell_of = tell
        self._facts: list[Dated] = []
        self._fresh = False
        self._going: tuple[str, Stop] | None = None

    def heed(self, stops: Mapping[str, str]) -> None:
        """End the run that goes on if it is one of these, by the id of each who wants it stopped: no bell need have
        been rung."""
        run, own = self._going or ("", None)
        if own and run in stops:
            own.press(who(stops[run]))

    async def play(self, stop: Stop, *, slot: bool) -> None:
        """All that is to be done now; with a ``slot`` one run is part of it. Once `stop` is pressed, nothing begins.

        Raises:
            InUse: the claim was lost, and another process acts on the job.
            StoreError: the store cannot be read or written.
            ScheduleError: the job's schedule is none.
        """
        self._read()
        while not stop.by:
            step = self._next()
            if step is None or (isinstance(step, Begin) and not slot):
                return
            await self._take(step, stop)
            slot = slot and not isinstance(step, Begin)
            await asyncio.sleep(0)  # thousands of missed instants must not keep others waiting

    def _next(self) -> Step | None:
        """The next step; a run begins only by what stands in the record at that moment."""
        self._means.book.check(self.job.id)
        step = self._decided()
        if isinstance(step, Begin) and not self._fresh:
            self._read()
            step = self._decided()
        self._fresh = False
        return step

    def _decided(self) -> Step | None:
        ledger = ledgers(self._facts).get(self.job.id, Ledger())
        self.job = ledger.job or self.job
        return decide(self.job, ledger, self._means.clock.now())

    def _read(self) -> None:
        self._facts = list(self._means.book.facts((self.job.id,)))
        self._fresh = True

    def _record(self, *facts: Lesson) -> None:
        self._means.book.record(*facts)
        self._facts.extend(Dated(self._means.clock.now(), fact) for fact in facts)

    def _say(self, text: str) -> None:
        self._tell_of(Handled(self.job.id, clean(self.job.name), clean(brief(text, SAID))))

    # --- the steps

    async def _take(self, step: Step, stop: Stop) -> None:
        match step:
            case Close(fact):
                if fact.guessed:
                    kill_marked(fact.run, RUN)  # commands that outlived the kernel which ran them
                self._record(fact)
                self._say(f"{fact.outcome}, {fact.why} ({fact.run})")
            case Skip(due, why):
                self._record(Skipped(self.job.id, due, why))
                self._say(f"{counted(len(due), 'instant')} skipped, {why}")
            case Settle(fact):
                self._record(fact)
            case Tell():
                await self._tell(step)
            case Begin():
                await self._run(step, stop)
                self._read()

    async def _tell(self, step: Tell) -> None:
        """Sent, then written."""
        job, run = self.job, step.run
        report = Report(
            job.name, run.run, run.due, run.outcome, run.why, without_mark(run.text),
            Path(step.notebook) if step.notebook else None, Path(job.folder) if job.folder else None, job.zone,
        )  # fmt: skip
        failed = await self._means.deliverer.deliver(report, step.target)
        self._record(Told(job.id, run.run, step.target, failed, step.attempt))
        if failed:
            self._say(f"{step.target} could not be told of {run.run}, {failed}")

    async def _run(self, step: Begin, stop: Stop) -> None:
        """Written, then run, then written."""
        job = self.job
        began = self._means.clock.elapsed()
        try:
            path, ran = notebook_path(self._means.home, job, step.due), Ran("ran")
        except HermesError as error:
            path, ran = Path(), Ran("failed", str(error))
        self._record(RunBegan(job.id, step.run, step.due, step.asked, str(path), self._means.place))
        self._means.book.check(job.id)  # another may have taken it: writing is what hears of that
        guessed = bool(self._means.cut_off(job))
        if guessed:
            ran = Ran("failed", UNREACHED)
        elif ran.outcome == "ran":
            ran = await self._watched(Work(job, step.run, step.due, path, step.missed), stop)
        silent = asks_silence(ran.text)
        await self._keep(
            RunEnded(job.id, step.run, step.due, ran.outcome, ran.why, ran.text, ran.session, silent, guessed)
        )
        took = span(self._means.clock.elapsed() - began)
        self._say(f"{ran.outcome} in {took}{f', {ran.why}' if ran.why else ''} ({step.run})")

    async def _watched(self, work: Work, stop: Stop) -> Ran:
        """What comes of it, unless somebody wants it stopped."""
        with stop.below() as own:
            self._going = work.run, own
            async with self._listening(work.run, own):
                ran = await self._means.runner.run(work, own)
        self._means.bell.quiet(work.run)
        return replace(ran, why=ENDED) if ran.outcome == "stopped" and stop.by else ran

    @asynccontextmanager
    async def _listening(self, run: str, own: Stop) -> AsyncIterator[None]:
        listener = asyncio.ensure_future(self._listen(run, own))
        try:
            yield
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)

    async def _listen(self, run: str, own: Stop) -> None:
        """Press `own` when the run's bell is rung, or when a wish to stop it comes from a machine that has no bell
        here."""
        clock, since = self._means.clock, self._means.clock.now()
        asked = clock.elapsed()
        while not self._means.bell.rung(run):
            if self._means.shared and clock.elapsed() - asked >= ASKS:
                asked = clock.elapsed()
                if by := await asyncio.to_thread(self._wanted_by, run, since):
                    own.press(by)
                    return
            await clock.sleep(self._means.listens)
        own.press(self._wanted_by(run, since) or who("person"))

    def _wanted_by(self, run: str, since: float) -> str:
        """Who wants it stopped; nobody, while the store cannot be read."""
        try:
            by = self._means.book.stopped_by(run, since)
        except StoreError:
            return ""
        return who(by) if by else ""

    async def _keep(self, fact: RunEnded) -> None:
        """What was done is written down, if need be later.

        Raises:
            StoreError: it could not be; then it will be closed as one of which nobody knows the end.
        """
        for seconds in AGAIN:
            try:
                return self._record(fact)
            except StoreError:
                await self._means.clock.sleep(seconds)
        return self._record(fact)
