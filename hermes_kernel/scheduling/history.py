"""The last instants of jobs, out of all that was ever recorded of them, without reading all of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from hermes_kernel.core.planned import LEDGER, PLANS
from hermes_kernel.core.schedule.rows import RunRow, called, rows
from hermes_kernel.core.schedule.run_names import LEAST, means
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.close import close_to
from hermes_kernel.scheduling.values import shown
from hermes_kernel.world.ports import Archive

DAY = 86_400.0
DAYS = (1, 10, 100, 1_000)
"""How far back is looked, until there is enough; then at everything."""


def latest(store: Archive, which: str, limit: int, now: float) -> tuple[RunRow, ...]:
    """The last `limit` instants of the job that `which` names, which may have been removed, or of all; or the run of
    this id.

    Raises:
        HermesError: there is no such job or run.
        StoreError: the store cannot be read.
    """
    known = names(store)
    ids = {job for job, name in known.items() if _is_meant(which, job, name)}
    if ids or not which:
        return _last(store, known, limit, now, lambda row: not which or row.job in ids)
    found = _last(store, known, limit, now, lambda row: means(which, row.run))
    if not found:
        close = close_to(which, set(known.values()), "There are none yet.")
        raise HermesError(f"There is no job or run {shown(which)}. {close}")
    return found


def names(store: Archive) -> dict[str, str]:
    """What each job is called that there ever was, by its id."""
    return called(store.learnt(PLANS))


def _is_meant(which: str, job: str, name: str) -> bool:
    return which in {job, name} or (len(which) >= LEAST and job.startswith(which))


def _last(
    store: Archive, known: dict[str, str], limit: int, now: float, wanted: Callable[[RunRow], bool]
) -> tuple[RunRow, ...]:
    """What is told of an instant is told after it: of those since some moment, all is known."""
    for days in DAYS:
        since = now - days * DAY
        found = [row for row in rows(store.learnt(LEDGER, since), known) if row.due >= since and wanted(row)]
        if len(found) >= limit:
            return tuple(found[:limit])
    return tuple(islice(filter(wanted, rows(store.learnt(LEDGER), known)), limit))
