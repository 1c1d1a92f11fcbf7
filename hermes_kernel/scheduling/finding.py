"""Which job, and which run, somebody means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.run_names import LEAST, means, short
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.close import close_to
from hermes_kernel.scheduling.values import shown

if TYPE_CHECKING:
    from hermes_kernel.core.schedule.ledger import Ledger


def found(which: object, living: Mapping[str, Job]) -> Job:
    """The job of this name or id, or whose id begins so.

    Raises:
        HermesError: there is none, or several.
    """
    meant = named(which, living)
    if len(meant) > 1:
        several = ", ".join(f"{job.name} ({job.id[:8]})" for job in meant)
        raise HermesError(f"{shown(which)} is the beginning of several ids: {several}. Use a name.")
    if not meant:
        close = close_to(str(which), [job.name for job in living.values()], "There are none yet.")
        raise HermesError(f"There is no job {shown(which)}. {close}")
    return meant[0]


def named(which: object, living: Mapping[str, Job]) -> list[Job]:
    """The jobs that are meant: mostly one."""
    if not isinstance(which, str):
        return []
    exact = [job for job in living.values() if which in {job.id, job.name}]
    begun = [job for job in living.values() if len(which) >= LEAST and job.id.startswith(which)]
    return exact[:1] or begun


def found_run(which: object, living: Mapping[str, Job], ledgers: Mapping[str, Ledger]) -> str:
    """The id of the run that goes on, or waits to begin.

    Raises:
        HermesError: there is none.
    """
    open_runs = {run: living[job] for job, ledger in ledgers.items() if job in living for run in going(ledger)}
    begun = [run for run in open_runs if isinstance(which, str) and means(which, run)]
    exact = [run for run in begun if run == which] or begun
    if len(exact) == 1:
        return exact[0]
    jobs = named(which, living)
    if len(begun) > 1 and not jobs:
        raise HermesError(f"{shown(which)} is the beginning of several runs: {', '.join(begun)}.")
    mine = [run for run, job in open_runs.items() if job in jobs]
    if mine:
        return mine[0]
    going_on = ", ".join(f"{short(run)} of {job.name}" for run, job in open_runs.items()) or "none"
    what = f"{jobs[0].name} has no run that goes on" if jobs else f"No run {shown(which)} goes on"
    raise HermesError(f"{what}. At this moment: {going_on}.")


def going(ledger: Ledger) -> tuple[str, ...]:
    """The ids of its runs that have not ended: the one that goes on first."""
    return tuple(filter(None, (ledger.open.run if ledger.open else "", *(each.run for each in ledger.wanted))))
