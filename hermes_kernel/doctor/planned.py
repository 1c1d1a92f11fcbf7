"""Do jobs run? How many there are, who sees to it, what is overdue, and whether that went wrong of late."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from hermes_kernel.core.figures import counted
from hermes_kernel.core.schedule.due import next_known
from hermes_kernel.core.schedule.saying import moment
from hermes_kernel.doctor.finding import Finding, State
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.place import known
from hermes_kernel.scheduling.ticks import failed_tick
from hermes_kernel.scheduling.watch import watcher
from hermes_kernel.settings import Settings
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.zone import LOCAL

LATE = 120.0  # seconds after which what is due should have begun
WHO = "leave `hermes-kernel scheduler` running, or have cron run `hermes-kernel tick` each minute"


def planned(settings: Settings) -> Iterator[Finding]:
    """Nothing for a home without jobs."""
    if not Agenda(settings.home).written() and not settings.store_url:
        return
    try:
        count, start = _jobs(settings)
    except StoreError as error:
        yield Finding("jobs", State.NOTE, f"what jobs there are cannot be read: {error}", "they run when it can be")
        return
    if count:
        yield _standing(counted(count, "job"), start, watcher(settings.home))
    if failed := failed_tick(settings.home):
        when = datetime.fromtimestamp(failed.at, UTC).astimezone(LOCAL).strftime("%d %b %H:%M")
        said = f"the last tick failed (exit code {failed.code}, {when}): {failed.said or 'it said nothing'}"
        yield Finding(
            "ticks", State.NOTE, said, f"tried again each minute; {settings.home}/schedule/tick.log says more"
        )


def _jobs(settings: Settings) -> tuple[int, tuple[float, str] | None]:
    """How many may run in this home, and when in which time zone the next of them starts.

    Raises:
        StoreError: the store cannot be read.
    """
    store = open_store(settings.home, settings.store_url if _is_shared(settings) else "")
    try:
        book = Book(store, fresh_id)
        jobs = {id_: job for id_, job in book.jobs().items() if job.place in {"", known(settings.home)}}
        ledgers = book.ledgers(jobs)
    finally:
        store.close()
    idle = [(job, ledgers[id_]) for id_, job in jobs.items() if not ledgers[id_].open]
    starts = [(start, job.zone) for job, ledger in idle if (start := next_known(job, ledger)) is not None]
    return len(jobs), min(starts, default=None)


def _is_shared(settings: Settings) -> bool:
    """There is a store that others share, which opening it would make."""
    from hermes_kernel.world.store.shared.standing import is_made

    return bool(settings.store_url) and is_made(settings.store_url)


def _standing(count: str, start: tuple[float, str] | None, who: str) -> Finding:
    if start is None:
        return Finding("jobs", State.OK, f"{count}; nothing is to start")
    when = moment(*start)
    if who:
        return Finding("jobs", State.OK, f"{count}; the next starts {when}; {who} sees to it")
    if start[0] + LATE < time.time():
        return Finding("jobs", State.PROBLEM, f"{count}; one was due {when}, and nobody sees to it", WHO)
    return Finding("jobs", State.NOTE, f"{count}; the next starts {when}, and nobody sees to it at this moment", WHO)
