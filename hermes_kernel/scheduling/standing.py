"""Where a job stands: what `jobs` shows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_kernel.core.schedule.due import next_known
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.scheduling.times import ahead, sentence_of

if TYPE_CHECKING:
    from hermes_kernel.core.schedule.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Standing:
    """``sentence`` is when it runs, as it was understood; ``next`` the next instants (seconds since 1970), none while
    it is paused or when it is ``over``. ``outcome`` and ``at`` (0: never) are of its last run, ``running`` is the id of
    the one that goes on, begun at ``since``; ``waiting`` are runs that were asked for and have not begun, ``runs`` how
    many its schedule has begun."""

    job: Job
    sentence: str
    next: tuple[float, ...] = ()
    outcome: str = ""
    at: float = 0.0
    why: str = ""
    running: str = ""
    since: float = 0.0
    waiting: tuple[str, ...] = ()
    runs: int = 0
    over: bool = False

    @property
    def state(self) -> str:
        """``running``, ``paused``, ``over`` or ``on``."""
        if self.running:
            return "running"
        if not self.job.enabled:
            return "paused"
        return "over" if self.over else "on"


def standing(job: Job, ledger: Ledger, now: float) -> Standing:
    """Where `job` stands at `now`, by its ledger."""
    times = ahead(job, ledger.runs, now).times
    over = not times and next_known(job, ledger) is None
    last = ledger.last
    return Standing(
        job,
        sentence_of(job),
        next=times if job.enabled else (),
        outcome=last.outcome if last else "",
        at=ledger.at,
        why=last.why if last else "",
        running=ledger.open.run if ledger.open else "",
        since=ledger.opened,
        waiting=tuple(each.run for each in ledger.wanted),
        runs=ledger.runs,
        over=over and job.enabled,
    )
