"""The tool ``schedule``: what a model may do with jobs, and what a person is asked first.

What a model makes runs without anybody there to look. So nothing it says lets a run do what it would have to ask for,
lets it make jobs, or sends a report to an address; and where the person said otherwise of a job, a change of it is
theirs to allow, as is whatever runs a notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.consent import allowed, changing, making, suspicious
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.speaking import UNHURRIED
from hermes_kernel.world.tools.threads import in_thread
from hermes_kernel.world.tools.tool import Tool, built_in

if TYPE_CHECKING:
    from hermes_kernel.core.question import Question
    from hermes_kernel.scheduling.jobs import Jobs

THREAD = "hermes-schedule"
OFF = "Jobs may not be made or changed by a model here (schedule_writes = off): go on without it."
ALONE = (
    "Nothing was changed: it needs the person's word, and nobody is there. Say in your answer what you would have "
    "scheduled, and when; do not try it in another form."
)
NO = "The person does not want that. Nothing was changed; do not try it in another form."
Action = Literal["list", "add", "change", "pause", "resume", "remove", "run", "runs", "next"]
READS = frozenset({"list", "runs", "next"})
UNCHANGED = "Nothing was changed: say what is to be different, such as when or prompt."


def make_schedule(jobs: Jobs | Callable[[], Jobs], writes: Callable[[], str]) -> Tool:
    """The tool over `jobs`, or over what gives them when a model first asks; ``writes`` gives the setting
    ``schedule_writes``."""
    desk = _Desk(jobs if callable(jobs) else lambda: jobs, writes)

    async def schedule(  # noqa: PLR0913, PLR0917 - the model's words
        action: Action = "list", job: str = "", when: str = "", prompt: str = "", name: str = "", zone: str = "",
        notebook: str = "", parameters: dict[str, Any] | None = None, skills: list[str] | None = None,
        tools: list[str] | None = None, deliver: list[str] | None = None, budget: int | None = None,
        repeat: int | None = None, misfire: Literal["skip", "once", "all"] | None = None,
    ) -> Result:  # fmt: skip
        """Have work done later or again and again, by an agent of its own that begins with nothing but the prompt.
        add makes a job from when and prompt (or notebook); change, pause, resume, remove, run (once, now) and runs
        take job; list shows all; next says when something would run, and makes nothing.

        Args:
            action: What to do.
            job: The name or id of a job.
            when: "in 90 minutes", "every 2h", "every monday 9am", "every weekday at 18:30", a cron line, an ISO time.
            prompt: All that the agent is to know and do. It cannot ask anybody. It ends its answer with a line
                [SILENT] where there is nothing to tell.
            name: For add, what to call it: lower-case letters, digits and hyphens.
            zone: The IANA time zone that is meant, if not the person's own.
            notebook: Instead of a prompt, a notebook in the working folder to run.
            parameters: Values for the notebook, by name.
            skills: Skills it is to read.
            tools: The only tools it is offered; none given: all.
            deliver: Where its report goes: notebook (the default), none, desktop, file:NAME.md, or a target's name.
            budget: Model calls it may make.
            repeat: Runs after which it is over; 0: never.
            misfire: What becomes of times at which nothing was there to run it.
        """
        wishes: dict[str, Any] = {
            "when": when, "prompt": prompt, "name": name, "zone": zone, "notebook": notebook, "parameters": parameters,
            "skills": skills, "tools": tools, "deliver": deliver, "budget": budget, "repeat": repeat,
            "misfire": misfire,
        }  # fmt: skip
        return await desk.answer(action, job, {wish: each for wish, each in wishes.items() if each not in ("", None)})

    return built_in(schedule, exclusive=True, seconds=UNHURRIED)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the tool of one agent stands on."""

    of: Callable[[], Jobs]
    writes: Callable[[], str]

    @property
    def jobs(self) -> Jobs:
        """What it is about."""
        return self.of()

    async def answer(self, action: Action, which: str, wishes: Mapping[str, Any]) -> Result:
        """What came of it, for a model.

        Raises:
            ToolError: it cannot or may not be done.
        """
        try:
            return Result(await self.do(action, which, wishes))
        except HermesError as error:
            raise ToolError(str(error)) from None

    async def do(self, action: Action, which: str, wishes: Mapping[str, Any]) -> str:
        """What came of it, in a few lines.

        Raises:
            HermesError: it cannot be done.
            ToolError: it may not be done.
        """
        if action in READS:
            return await in_thread(partial(self._read, action, which, wishes), THREAD)
        if self.writes() == "off":
            raise ToolError(OFF)
        if action == "add":
            return await self._add(wishes)
        job = await in_thread(partial(self.jobs.find, which), THREAD)
        if action == "change":
            return await self._change(job, wishes)
        return await self._verb(action, job)

    def _read(self, action: str, which: str, wishes: Mapping[str, Any]) -> str:
        from hermes_kernel.scheduling import reciting

        if action == "list":
            return reciting.listed(self.jobs.list())
        if action == "runs":
            return reciting.ran(self.jobs.runs(which, reciting.LISTED))
        if "when" in wishes:
            return self._would_run(wishes)
        return reciting.coming(self.jobs.list()) if not which else self.jobs.understood(self.jobs.find(which))

    def _would_run(self, wishes: Mapping[str, Any]) -> str:
        wanted = {name: wishes[name] for name in ("when", "zone") if name in wishes}
        job = self.jobs.draft(**wanted, prompt="none yet", by="model")
        return self.jobs.understood(job)

    async def _add(self, wishes: Mapping[str, Any]) -> str:
        if "when" not in wishes:
            raise ToolError('when is missing, such as "every monday 9am" or "in 90 minutes".')
        draft = await in_thread(partial(self.jobs.draft, **wishes, by="model"), THREAD)
        times = await in_thread(partial(self.jobs.understood, draft), THREAD)
        if self._has_to_ask(draft):
            await self._consent(making(draft, times))
        return await self._made(await in_thread(partial(self.jobs.keep, draft, by="model"), THREAD))

    async def _change(self, job: Job, wishes: Mapping[str, Any]) -> str:
        if not wishes:
            raise ToolError(UNCHANGED)
        after = await in_thread(partial(self.jobs.changed, job, **wishes, by="model"), THREAD)
        times = await in_thread(partial(self.jobs.understood, after), THREAD)
        if self._has_to_ask(job) or self._has_to_ask(after):
            await self._consent(changing("change", job, after, times))
        return await self._made(await in_thread(partial(self.jobs.keep, after, job, by="model"), THREAD))

    async def _made(self, job: Job) -> str:
        from hermes_kernel.scheduling.reciting import made

        return made(job, await in_thread(partial(self.jobs.understood, job), THREAD))

    async def _verb(self, action: str, job: Job) -> str:
        times = await in_thread(partial(self.jobs.understood, job), THREAD)
        if self._has_to_ask(job):
            await self._consent(changing(action, job, job, times))
            await in_thread(partial(self.jobs.keep, job, job), THREAD)  # it is still what the person was shown
        verbs: Mapping[str, Callable[..., Any]] = {
            "pause": self.jobs.pause, "resume": self.jobs.resume, "remove": self.jobs.remove, "run": self.jobs.run,
        }  # fmt: skip
        done = await in_thread(partial(verbs[action], job.id, by="model"), THREAD)
        if action == "run":
            return f"{job.name} will run now, as {done}: `runs` shows what comes of it."
        said = {"pause": "paused", "resume": "on again", "remove": "removed"}[action]
        return f"{job.name} is {said}."

    def _has_to_ask(self, job: Job) -> bool:
        """The person's word is needed: the setting says so, the job may do what an agent may not (a notebook's cells
        run as they are), it works elsewhere than the agent does, or something in its prompt is suspicious."""
        trusted = job.approvals == "allow" or job.jobs or bool(job.notebook)
        return self.writes() == "ask" or trusted or self._is_elsewhere(job) or bool(suspicious(job))

    def _is_elsewhere(self, job: Job) -> bool:
        here = Path(self.jobs.where()).resolve()
        return not Path(job.folder).resolve().is_relative_to(here)

    async def _consent(self, question: Question) -> None:
        """Raises:
        ToolError: the person said no, or nobody is there.
        """
        yes = await allowed(question)
        if not yes:
            raise ToolError(ALONE if yes is None else NO)
