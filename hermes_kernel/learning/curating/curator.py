"""The curator of a home: plans, runs, takes back; and says when a run is due. One at a time, in whichever process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.curating import DAY, Cause, Life, Move, Plan, State, moved, plan
from hermes_kernel.core.learning.curating_runs import Run
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating.carrying import made, standing
from hermes_kernel.learning.curating.judging import Judge
from hermes_kernel.learning.curating.knowing import Census
from hermes_kernel.learning.curating.means import Means
from hermes_kernel.learning.curating.reviewing import Reviewer
from hermes_kernel.learning.curating.running import Running, closed, finish, unfinished
from hermes_kernel.learning.curating.shelf import BUSY, Shelf, Times, explaining
from hermes_kernel.learning.curating.undoing import Undoing, meant, was_begun
from hermes_kernel.learning.holding import held_back
from hermes_kernel.learning.proposals import NoProposal, Proposal
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError

HOUR = 3_600.0
FIRST_SECONDS, LOOK_SECONDS, RETRY_SECONDS = 60.0, 600.0, DAY
"""When an open kernel looks whether a run is due: soon, then every so often, and not again for a day after trouble."""


@dataclass(frozen=True, slots=True)
class Status:
    """``last`` is the last run, ``next`` when another is due at the earliest (seconds since 1970-01-01 UTC, 0: not
    known yet), ``holds`` what keeps it from running now, empty where it is due; ``trouble`` what went wrong then."""

    last: Run | None
    next: float
    holds: str
    trouble: str = ""

    @property
    def due(self) -> bool:
        """It may run by itself now."""
        return not self.holds


class Curator:
    """That of one home. ``reviewer`` gives whoever asks a model (None: there is none)."""

    def __init__(self, means: Means, reviewer: Callable[[], Reviewer | None] = lambda: None) -> None:
        self._means = means
        self._reviewer = reviewer
        self._shelf = Shelf(means.home)
        self._trouble = ""
        self._own = Stop()

    # --- looking

    def lives(self) -> tuple[Life, ...]:
        """What is known of every skill, in the order of names."""
        return Census(
            self._means.library, self._shelf.times(), self._means.scheduled(), self._means.clock.now()
        ).lives()

    def plan(self, now: float | None = None) -> Plan:
        """What would move by age at `now` (None: at this moment)."""
        return plan(self.lives(), self._means.clock.now() if now is None else now, self._means.ages)

    def runs(self) -> tuple[Run, ...]:
        """All runs and rollbacks, the oldest first."""
        return self._shelf.runs()

    def find(self, name: str = "last") -> Run:
        """The run whose id is `name` or begins with it, or the ``last``; `HermesError` where there is none."""
        return self._shelf.find(name)

    def report(self, name: str = "last") -> str:
        """The report of a run for a person, in Markdown; `HermesError` where there is none."""
        return self._shelf.report(self._shelf.find(name))

    def status(self) -> Status:
        """The last run, the next one, and what holds it.

        Raises:
            StoreError: the store cannot be read.
        """
        times, runs = self._shelf.times(), self._shelf.runs()
        return Status(runs[-1] if runs else None, self._next(times), self._holds(times), self._trouble)

    def _next(self, times: Times) -> float:
        return times.last + self._means.settings().curator_days * DAY if times.last else 0.0

    def _holds(self, times: Times) -> str:
        settings, now = self._means.settings(), self._means.clock.now()
        if why := held_back(settings):
            return f"the setting {why}, so it runs only when a person runs it"
        if not times.last:
            return f"it has not looked here yet; it first runs {settings.curator_days:g} days after it has"
        if now < self._next(times):
            return f"the next run is due on {minute(self._next(times))}"
        idle = now - self._means.active()
        if idle < settings.curator_idle_hours * HOUR:
            minutes = counted(int(max(idle, 0) / 60), "minute")
            return f"somebody worked here {minutes} ago; it waits for {settings.curator_idle_hours:g} idle hours"
        return ""

    # --- doing

    async def run(
        self, *, now: float | None = None, review: bool | None = None, by: str = "person", stop: Stop | None = None
    ) -> Run:
        """Do what is due at `now` (None: at this moment), whether or not a run is. ``review``: whether a model is asked
        (None: unless it is a small local one). ``stop``, when pressed, ends it between two steps.

        Raises:
            HermesError: another process is at it, what there is cannot be kept first (then nothing was done), or the
                home cannot be written.
            StoreError: the store cannot be used.
        """
        with self._shelf.alone():
            await self._mend()
            return await self._running(now, review, by, self._reviewer()).played(stop or Stop())

    async def rehearse(self, *, now: float | None = None, review: bool | None = None, stop: Stop | None = None) -> Run:
        """What `run` would do. Nothing is done; if a model is asked, what it said and cost is in the store.

        Raises:
            HermesError, StoreError: it cannot be looked at.
        """
        return await self._running(now, review, "person", self._reviewer()).rehearsed(stop or Stop())

    def _running(self, now: float | None, review: bool | None, by: str, reviewer: Reviewer | None) -> Running:  # noqa: FBT001
        at = self._means.clock.now() if now is None else now
        return Running(self._means, self._shelf, Judge(self._means, reviewer, review), at, by)

    async def rollback(self, run: str = "", *, by: str = "person") -> Run:
        """Put all skills back as they were before `run` (its id or the beginning of it; empty: the last one that
        changed something). Skills made since stay. It is a run of its own, and can be taken back.

        Raises:
            HermesError: there is no such run, another process is at it, or it cannot be done.
            StoreError: the store cannot be used.
        """
        with self._shelf.alone():
            await self._mend()
            return await Undoing(self._means, self._shelf, by).taken_back(meant(self._shelf, run))

    def restore(self, name: str, *, by: str = "person") -> str:
        """Bring an archived skill back, active; a sentence that says so.

        Raises:
            HermesError: there is no such skill in the archive, or it cannot be done.
        """
        try:
            known = self._means.library.all()
            state = standing(self._means, known[name]) if name in known else State.ARCHIVED
            if state is not State.ARCHIVED:
                raise HermesError(f"The skill {name!r} is not archived: it is {state.value}.")
            after = moved(state, Cause.RESTORED)
            done = self._means.workshop.restore(name, by=by, why=Cause.RESTORED.value)
            self._means.library.mark(name, after.value, by)
        except SkillError as error:
            raise HermesError(str(error)) from None
        return done.text

    def move(self, wanted: Move, *, by: str = "person") -> str:
        """Do this one move of the plan now, if it is still due; a sentence that says so. The days until the next run
        are counted as before.

        Raises:
            HermesError: it is not due any more, another process is at it, or it cannot be done.
        """
        with self._shelf.alone():
            due = {move.name: move for move in self.plan().moves}.get(wanted.name)
            if due is None or due.after is not wanted.after:
                raise HermesError(f"The skill {wanted.name} does not become {wanted.after.value} any more.")
            try:
                said = made(self._means, due, by)
            except SkillError as error:
                raise HermesError(str(error)) from None
            times = self._shelf.times()
            stale = {name: t for name, t in times.stale.items() if name != due.name}
            since = {due.name: self._means.clock.now()} if due.after is State.STALE else {}
            self._shelf.keep_times(replace(times, stale=stale | since))
        return said

    # --- what waits for a person

    def waiting(self) -> tuple[Proposal, ...]:
        """What its reviews want and may not do alone, the oldest first."""
        return tuple(each for each in self._means.proposals.all("skill") if each.by == "curator")

    def accept(self, name: str) -> str:
        """Do what the proposal `name` (its id or the beginning of it) wants; a sentence that says so.

        Raises:
            HermesError: there is no such proposal, or it cannot be done any more.
        """
        try:
            return self._means.workshop.accept(self._proposed(name)).text
        except SkillError as error:
            raise HermesError(str(error)) from None

    def reject(self, name: str) -> str:
        """Have the proposal `name` wait no more; a sentence that says so. `HermesError` as `accept`."""
        proposal = self._proposed(name)
        self._means.proposals.remove(proposal)
        return f"{proposal.id} will not be done."

    def _proposed(self, name: str) -> Proposal:
        try:
            return self._means.proposals.get(name)
        except NoProposal as error:
            raise HermesError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None

    async def _mend(self) -> None:
        """What processes that died have left is closed, or gone on with."""
        with explaining(self._means.skills), self._means.workshop.changing.alone():
            pass  # it puts in order what a death in the middle of one change has left
        for run in unfinished(self._shelf.runs()):
            if was_begun(self._shelf, run):
                await Undoing(self._means, self._shelf, run.by).gone_on_with(run)
            else:
                finish(self._means, self._shelf, closed(self._means, run))

    # --- by itself

    async def visit(self) -> Run | None:
        """Run if a run is due; the first visit to a home only begins to count the days.

        Raises:
            HermesError, StoreError: as `run`; that another process is at it is no trouble.
        """
        try:
            if self._means.settings().learning and not self._shelf.times().last:
                self._begin_to_count()
            if self._holds(self._shelf.times()):
                return None
            with self._shelf.alone():
                await self._mend()
                if self._holds(self._shelf.times()):  # another process was here between
                    return None
                self._own = Stop()
                return await self._running(None, None, "curator", self._reviewer()).played(self._own)
        except HermesError as error:
            if str(error) == BUSY:
                return None
            raise

    def give_way(self) -> None:
        """Somebody works here now: a run that began by itself is closed between two steps, and done when it is quiet
        again. Safe from any thread; returns at once."""
        self._own.press("kernel")

    def _begin_to_count(self) -> None:
        with self._shelf.alone():
            times = self._shelf.times()
            if not times.last:
                self._shelf.keep_times(Times(self._means.clock.now(), "", times.stale, times.seen, times.reviewed))

    async def attend(self, clock: Clock | None = None) -> None:
        """For as long as a kernel is open: look every so often, and run when it is due. Ends when it is cancelled;
        a run that is cancelled is closed between two steps."""
        clock = clock or self._means.clock
        wait = FIRST_SECONDS
        while True:
            await clock.sleep(wait)
            wait = LOOK_SECONDS
            try:
                await self.visit()
                self._trouble = ""
            except (HermesError, StoreError, SkillError, SettingsError) as error:
                self._trouble, wait = str(error), RETRY_SECONDS
