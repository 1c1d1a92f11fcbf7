"""What a person is asked before a model's wish becomes a job: all of what would be, with nothing that could hide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from hermes_kernel.core.events import Approved
from hermes_kernel.core.question import Question
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.errors import HermesError
from hermes_kernel.world.tools.approvals import SHOWN, bounded, visible
from hermes_kernel.world.tools.speaking import SPEAKER, ask_person, the_floor

CHOICES = ("yes", "no")
APPROVALS = {"deny": "dangerous calls are refused", "allow": "dangerous calls run without being asked about"}
SAID = {"change": "change", "pause": "pause", "resume": "resume", "remove": "remove", "run": "run now"}
TOO_LONG = (
    f"A person has to see all of it before it is made, {SHOWN:,} characters at most: say it in fewer, or put what is "
    "long into a file that the prompt names."
)
UNSAID = frozenset({"id", "since", "place", "schedule", "zone", "digest"})
"""Fields that others say better, or that no one changes by a wish."""


async def allowed(question: Question) -> bool | None:
    """Whether the person said yes; None where nobody is there to."""
    speaker = SPEAKER.get(None)
    person = speaker.tools.person if speaker else None
    if speaker is None or person is None:
        return None
    async with the_floor():
        answer = await ask_person(person, question)
    if answer is None:
        return None
    yes = answer.strip().lower() == "yes"
    await speaker.tell(Approved(speaker.call_id, yes, "person"))
    return yes


def making(job: Job, times: str) -> Question:
    """May the agent make this job, which runs at these `times`? `HermesError`: it is too long to be shown."""
    return _whole("May the agent make this job?", _lines(job, times))


def changing(action: str, before: Job, after: Job, times: str) -> Question:
    """May the agent do that with the job `before`, which would then be as `after`? `HermesError`: what would be new is
    too long to be shown."""
    names = [each.name for each in fields(Job) if getattr(before, each.name) != getattr(after, each.name)]
    if (before.schedule, before.zone) != (after.schedule, after.zone):
        names.insert(0, "when")
    differs = [f"other than now: {', '.join(name for name in names if name not in UNSAID)}"] if names else []
    asked = _bounded if before == after else _whole
    return asked(f"May the agent {SAID[action]} the job {before.name}?", [*differs, *_lines(after, times)])


def suspicious(job: Job) -> tuple[str, ...]:
    """What is suspicious in the prompt of `job`, each with its place."""
    from hermes_kernel.core.learning.threats import threats

    return tuple(f"{each.what}: {each.excerpt}" for each in threats(job.prompt))


def _lines(job: Job, times: str) -> Iterator[str]:
    yield from (f"SUSPICIOUS: {each}" for each in suspicious(job))
    yield f"name: {job.name}"
    yield f"when: {times}"
    if job.notebook:
        yield f"runs: {job.notebook} (its cells as they are, without asking about any)"
        yield from (f"  {each.name} = {each.value}" for each in job.parameters)
    yield f"tools: {'all' if job.tools is None else ', '.join(job.tools) or 'none'}"
    yield f"approvals: {APPROVALS.get(job.approvals, job.approvals)}"
    if job.jobs:
        yield "jobs: it may make jobs"
    yield f"reports to: {', '.join(job.deliver)}"
    yield f"works in: {job.folder}"
    more = {
        "skills": ", ".join(job.skills),
        "model": job.model,
        "model calls": job.budget or "",
        "runs": job.repeat or "",
    }
    yield from (f"{name}: {value}" for name, value in more.items() if value)
    if job.prompt:  # after all that is not a model's to word, and told apart from it
        yield "does:"
        yield from (f"  | {line}" for line in job.prompt.split("\n"))


def _whole(question: str, lines: Iterator[str] | list[str]) -> Question:
    lines = list(lines)
    if len(visible("\n".join(lines))) > SHOWN:
        raise HermesError(TOO_LONG)
    return _bounded(question, lines)


def _bounded(question: str, lines: Iterator[str] | list[str]) -> Question:
    return Question(visible(question), CHOICES, "no", tool="schedule", given=bounded("\n".join(lines)))
