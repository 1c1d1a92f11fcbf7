"""`NotebookRunner`: a job's work done as a notebook, whatever a model, a kernel or a disk does meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Outcome
from hermes_kernel.core.figures import span
from hermes_kernel.core.planned import RunBegan
from hermes_kernel.core.redact import redact as redacted
from hermes_kernel.core.schedule.grammar import stored
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.saying import sentence
from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.ports import Ran, Work
from hermes_kernel.scheduling.running import composing, shelf, template
from hermes_kernel.scheduling.running.nodes import kernel_of
from hermes_kernel.scheduling.running.reporting import Answer, answer, report
from hermes_kernel.scheduling.running.saving import Saver
from hermes_kernel.world.ports import Archive, Clock
from hermes_kernel.world.run import NAME as RUN
from hermes_kernel.world.stop import PATIENCE_SECONDS, Stop, Stopped
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.tools.terminal import secret_values

if TYPE_CHECKING:
    from nbformat import NotebookNode

READ_SECONDS = 0.3  # in which a stopped run looks for what it said
USED_UP = "the budget was used up"
NOTHING = "it said nothing"


class NotebookRunner:
    """`ports.Runner` in the home ``home``, whose conversations are in ``store``. ``environ`` is what a kernel gets
    beside what a run sets (None: this process's), ``redact`` takes secrets out of a text (None: those of the
    environment, and what looks like one). ``patience`` is for how many seconds a cell that is stopped may still run."""

    def __init__(  # noqa: PLR0913 - what a runner is made of, each by its name
        self, home: Path, store: Archive, clock: Clock, *,
        environ: Mapping[str, str] | None = None, redact: Callable[[str], str] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:  # fmt: skip
        self._home = home.absolute()
        self._patience = patience
        self._store = store
        self._clock = clock
        self._environ = dict(os.environ if environ is None else environ)
        secrets = secret_values(self._environ)
        self._redact = redact or (lambda text: redacted(text, secrets))

    async def run(self, work: Work, stop: Stop) -> Ran:
        """See `ports.Runner.run`."""
        folder = work.notebook.parent
        try:
            shelf.prepare(folder)
        except (HermesError, OSError) as error:
            return Ran("failed", self._redact(_line(error)))
        saver = Saver(work.notebook, self._redact, self._clock)
        notebook, ran = await self._played(work, stop, saver)
        ran = replace(ran, why=self._redact(ran.why), text=self._redact(ran.text))
        _note(notebook, ran)
        try:
            saver.save(notebook)
        except HermesError as error:
            ran = replace(ran, outcome="failed", why=ran.why or str(error))
        shelf.keep(folder, work.job.keep, work.notebook, lambda since: self._own(work, since))
        return ran

    def _own(self, work: Work, since: float) -> frozenset[str]:
        """The notebooks in the folder of this one that runs of the same job were begun with, as the record says."""
        try:
            told = self._store.learnt((RunBegan,), since)
        except StoreError:
            return frozenset()  # nobody can tell: they stay until the next run
        begun = [each.fact for each in told if isinstance(each.fact, RunBegan) and each.fact.job == work.job.id]
        paths = [Path(fact.notebook) for fact in begun]
        return frozenset(path.name for path in paths if path.parent.name == work.notebook.parent.name)

    async def _played(self, work: Work, stop: Stop, saver: Saver) -> tuple[NotebookNode, Ran]:
        notebook = composing.titled(work.job.name)
        with stop.below() as lower:
            try:
                notebook = self._made(work)
                saver.save(notebook)
                async with lower.after(self._clock.sleep, work.job.timeout):
                    await self._executed(work, notebook, lower, saver)
            except Stopped as stopped:
                said = await self._answer(work, READ_SECONDS)
                return notebook, _told(notebook, said, _cut(work.job, stop.by, str(stopped)))
            except (HermesError, OSError) as error:
                said = await self._answer(work)
                return notebook, _told(notebook, said, Ran("failed", _line(error)))
            said = await self._answer(work)
        return notebook, _judged(work.job, said, _told(notebook, said, Ran("ran")))

    def _made(self, work: Work) -> NotebookNode:
        if work.job.notebook:
            return template.filled(work.job)
        return composing.composed(work, _understood(work.job))

    async def _executed(self, work: Work, notebook: NotebookNode, stop: Stop, saver: Saver) -> None:
        from hermes_kernel.scheduling.running.executing import Execution  # nbclient, which takes a moment

        if stop.by:
            raise Stopped(stop.by)
        name = kernel_of(notebook)
        execution = Execution(
            notebook, name, _folder(work), self._around(work), patience=self._patience,
            changed=saver.changed, begins=lambda _: saver.save_soon(notebook),
        )  # fmt: skip
        saving = asyncio.ensure_future(saver.keep_saving(notebook))
        try:
            await execution.run(stop)
        except asyncio.CancelledError:  # who runs it ends
            with suppress(HermesError):
                saver.save(notebook)
            raise
        finally:
            saving.cancel()
            await asyncio.gather(saving, return_exceptions=True)

    def _around(self, work: Work) -> dict[str, str]:
        """The environment of its kernel."""
        return {
            **self._environ,
            "HERMES_HOME": str(self._home),
            RUN: work.run,
            "HERMES_APPROVALS": "allow" if work.job.approvals == "allow" else "deny",
            "HERMES_SCHEDULE_WRITES": "on" if work.job.jobs else "off",
            "HERMES_SCHEDULE_WATCH": "off",
            "JPY_SESSION_NAME": str(work.notebook),
        }

    async def _answer(self, work: Work, seconds: float | None = None) -> Answer:
        """What the run's conversation says, looked for on another thread."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(answer, self._store, work.run), seconds)
        except TimeoutError:
            return Answer()


def _folder(work: Work) -> Path:
    """Where it works: where the job says; a notebook beside the files that it reads; else beside the notebooks of its
    runs, where Jupyter opens them, too, and where the next run finds what this one left."""
    if work.job.folder:
        return Path(work.job.folder)
    return Path(work.job.notebook).parent if work.job.notebook else work.notebook.parent


def _understood(job: Job) -> str:
    try:
        return sentence(stored(job.schedule, job.zone))
    except ScheduleError:
        return ""


def _line(error: Exception) -> str:
    return brief(str(error), 500)


def _told(notebook: NotebookNode, said: Answer, ran: Ran) -> Ran:
    return replace(ran, text=report(notebook, kernel_of(notebook), said), session=said.session)


def _judged(job: Job, said: Answer, ran: Ran) -> Ran:
    """How a run ended in which nothing failed."""
    if said.outcome is Outcome.BUDGET_EXHAUSTED:
        return replace(ran, why=USED_UP)
    if job.prompt and not ran.text:
        return replace(ran, outcome="failed", why=NOTHING)
    return ran


def _cut(job: Job, by: str, pressed: str) -> Ran:
    """It was stopped by a person or something else, or by its own clock."""
    if not by and pressed == "time":
        return Ran("failed", f"took longer than {span(job.timeout)}")
    return Ran("stopped", f"stopped by {by or pressed}")


def _note(notebook: NotebookNode, ran: Ran) -> None:
    """Whoever opens it sees how it ended, where that was not well."""
    if ran.outcome != "ran":
        notebook.cells.append(composing.noted(ran.outcome, ran.why))
