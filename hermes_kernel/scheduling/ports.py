"""What ticking needs of the world, as protocols. Every adapter and every fake keeps the same contract tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.world.stop import Stop


@dataclass(frozen=True, slots=True)
class Work:
    """One run: ``job`` as it was when it began, the instant ``due`` (seconds since 1970), the ``notebook`` to write;
    ``missed`` is how many earlier instants were let go of for it."""

    job: Job
    run: str
    due: float
    notebook: Path
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run: ``outcome`` is ``ran``, ``failed`` or ``stopped``, ``why`` one readable line, ``text`` the
    report as Markdown (bounded, without secrets), ``session`` the conversation it was said in."""

    outcome: str
    why: str = ""
    text: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What is told of a run: of the job ``name``, due at ``due``, how it ended and what it said; ``notebook`` is where
    the whole of it is."""

    name: str
    run: str
    due: float
    outcome: str
    why: str = ""
    text: str = ""
    notebook: Path | None = None
    folder: Path | None = None
    zone: str = "UTC"


class Runner(Protocol):
    """Does the work of a job."""

    async def run(self, work: Work, stop: Stop) -> Ran:
        """Do it, unless `stop` is pressed first: then it ends within 1 s as ``stopped``. What was done is in
        ``work.notebook``, also when it failed or the process died in mid-run. Never raises for anything a model, a
        notebook, a kernel or a disk can do."""
        ...


class Deliverer(Protocol):
    """Tells people."""

    async def deliver(self, report: Report, target: str) -> str:
        """Send it to `target`; nothing, or in one line without secrets why it could not be sent. Never raises for
        anything a network can do."""
        ...


class Bell(Protocol):
    """Wakes who watches over runs and jobs, at once, where an append to the store would be noticed only later."""

    def ring(self, name: str) -> None:
        """Something about `name` (a run's id, or ``jobs``) has been appended."""
        ...

    def rung(self, name: str) -> bool:
        """It has been since `quiet`. Cheap: asked ten times a second."""
        ...

    def quiet(self, name: str) -> None:
        """Forget it."""
        ...
