"""What a person, or an agent that may, wants done and when. A value: who keeps it and who does it lives elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

MISFIRES = ("skip", "once", "all")
"""What becomes of instants that nobody was there for: let go of; made up for once, by the latest; each, in order."""

NONE, NOTEBOOK, DESKTOP, FILE = "none", "notebook", "desktop", "file:"
"""Where a report goes, beside the names of targets: to no one, not even a failure; nowhere but into the run's notebook
and the list of runs; to the person's screen; into a file."""

TIMEOUT = 3_600.0  # seconds a run may take unless the job says otherwise; as the program we succeed
KEPT = 50  # notebooks of runs that are kept of each job, unless it says otherwise; as the program we succeed


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value for a notebook: ``name`` is a Python identifier, ``value`` JSON."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Job:
    """An agent's work at set times: a ``prompt``, or an existing ``notebook`` (an absolute path), never both.

    ``schedule`` is what `grammar.text` writes and `grammar.parse` reads, in the IANA time ``zone``; instants after
    ``since`` (seconds since 1970-01-01 UTC: when it was made, resumed, or put on another schedule) are due while it is
    ``enabled``. ``repeat`` is how many runs it has before it is over, 0 for no end. ``tools`` are the only ones
    offered, None for all; ``model``, ``budget`` (model calls) and ``skills`` as in a cell, empty for the settings' own.

    ``misfire`` is one of `MISFIRES`. An instant is on time until ``grace`` seconds after its start; None: half of
    the time between it and the next, at least 120 s and at most 7,200. ``jitter`` is by how many seconds a start may be
    put off, each by another share of it; ``timeout`` the seconds a run may take, 0 for no end.

    ``deliver`` names where the report goes: `NONE`, `NOTEBOOK`, `DESKTOP`, `FILE` with a path, or a target that the
    person has set up; never an address, which has secrets in it. ``approvals`` is ``deny`` or ``allow``, ``jobs``
    whether a run may make jobs, ``keep`` how many notebooks of runs are kept, ``folder`` (absolute) where it works.
    ``digest`` is the SHA-256 of the notebook where a model named it and somebody agreed to what it held; with other
    content it does not run. It runs in the home ``place`` alone, or, empty, in any that shares the store."""

    id: str
    name: str
    schedule: str
    zone: str
    since: float
    prompt: str = ""
    notebook: str = ""
    parameters: tuple[Parameter, ...] = ()
    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    model: str = ""
    budget: int = 0
    folder: str = ""
    enabled: bool = True
    repeat: int = 0
    misfire: str = "once"
    grace: float | None = None
    jitter: float = 0.0
    timeout: float = TIMEOUT
    deliver: tuple[str, ...] = (NOTEBOOK,)
    approvals: str = "deny"
    jobs: bool = False
    keep: int = KEPT
    place: str = ""
    digest: str = ""
