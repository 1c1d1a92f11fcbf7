"""Kept facts about jobs: what they are, and what became of each instant at which one was due.

They stand in sessions of their own (kind ``schedule``), one for each process, and change no turn. Instants are whole
seconds since 1970-01-01 UTC. ``by`` is one of `learnt.WHO`, ``session`` the conversation in which it came about.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.learnt import Lesson
from hermes_kernel.core.schedule.job import Job

SCHEDULE = "schedule"
"""The kind of the sessions that hold these facts and nothing else."""

RUN = "run"
"""The kind of the sessions that a run's conversation is."""

SHORT = 8  # characters of a job's id with which the ids of its runs begin

ORPHANED = "the process that ran it ended in mid-run"
UNREACHED = "the store that its homes share is away, so nobody knows whether it runs elsewhere"

OUTCOMES = ("ran", "failed", "stopped", "skipped")
"""How an instant ends: by exactly one of them."""


@dataclass(frozen=True, slots=True)
class JobSet(Lesson):
    """The job is this from here on; the first of its id makes it. It comes after all that was told of the job until the
    time ``after``, also where a clock that was set back says otherwise."""

    job: Job
    by: str = "person"
    session: str = ""
    why: str = ""
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class JobRemoved(Lesson):
    """The job with the id ``job`` is no more. What it did stays in the record. ``after`` as in `JobSet`."""

    job: str
    by: str = "person"
    session: str = ""
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class RunWanted(Lesson):
    """``job`` is to run now, once, whatever its schedule; the run will be called ``run``."""

    job: str
    run: str
    by: str = "person"
    session: str = ""


@dataclass(frozen=True, slots=True)
class StopWanted(Lesson):
    """The run is to be stopped."""

    run: str
    by: str = "person"
    session: str = ""


@dataclass(frozen=True, slots=True)
class RunBegan(Lesson):
    """The run of ``job`` for the instant ``due`` begins; ``asked``: somebody wanted it, the schedule did not. It writes
    ``notebook`` (an absolute path) in the home ``place``. Written before anything is run, by whoever holds the job's
    claim."""

    job: str
    run: str
    due: float
    asked: bool = False
    notebook: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded(Lesson):
    """It is over: ``outcome`` is ``ran``, ``failed`` or ``stopped``, ``why`` one readable line, empty where there is
    nothing to add. ``text`` is the report, bounded, ``session`` its last conversation. ``silent``: it asks that no one
    be told. ``guessed``: who says so was not there; if its own end comes to light, that is what counts."""

    job: str
    run: str
    due: float
    outcome: str
    why: str = ""
    text: str = ""
    session: str = ""
    silent: bool = False
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Skipped(Lesson):
    """These instants of ``job`` will not run, for ``why``."""

    job: str
    due: tuple[float, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Told(Lesson):
    """The report of ``run`` went to ``target``; ``failed`` says in one line why it could not, for the ``attempt``-th
    time."""

    job: str
    run: str
    target: str
    failed: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Settled(Lesson):
    """All of ``job`` up to the instant ``through`` is in the record and nothing of it is open, after ``runs`` runs, of
    which the last was ``run``, ended at ``at`` (seconds since 1970) as ``outcome``. Who wants to know what is due need
    not read what was told before."""

    job: str
    through: float
    runs: int = 0
    run: str = ""
    outcome: str = ""
    at: float = 0.0


Planned = JobSet | JobRemoved | RunWanted | StopWanted | RunBegan | RunEnded | Skipped | Told | Settled

PLANNED: tuple[type, ...] = Planned.__args__

PLANS = (JobSet, JobRemoved)
"""What jobs there are."""

LEDGER = (RunWanted, StopWanted, RunBegan, RunEnded, Skipped, Told, Settled)
"""What became of their instants."""
