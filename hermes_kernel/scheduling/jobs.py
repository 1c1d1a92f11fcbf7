"""`Jobs`: what may be done with jobs, whoever asks for it: made, changed, paused, run now, stopped, listed.

A change is a fact, appended under a lock of the home, so that of two at once neither is lost; then whoever watches is
told when there is next something to do. What is refused leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.planned import JobRemoved, JobSet, RunWanted, StopWanted
from hermes_kernel.core.schedule.coming import over
from hermes_kernel.core.schedule.due import asked_id, next_known
from hermes_kernel.core.schedule.grammar import text
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.ledger import Ledger
from hermes_kernel.core.schedule.rows import RunRow
from hermes_kernel.errors import HermesError, explained
from hermes_kernel.scheduling.bell import JOBS
from hermes_kernel.scheduling.finding import found, found_run
from hermes_kernel.scheduling.history import latest
from hermes_kernel.scheduling.in_run import as_a_run_may
from hermes_kernel.scheduling.naming import free_name
from hermes_kernel.scheduling.notebooks import digest_of
from hermes_kernel.scheduling.place import here
from hermes_kernel.scheduling.standing import Standing, standing
from hermes_kernel.scheduling.times import Ahead, ahead, checked_jitter, sentence_of, timed
from hermes_kernel.scheduling.wishes import Ground, checked_whole, exclusive, understood, work
from hermes_kernel.world.store.locks import Busy, held
from hermes_kernel.world.zone import local_name

if TYPE_CHECKING:
    from hermes_kernel.scheduling.agenda import Agenda
    from hermes_kernel.scheduling.book import Book
    from hermes_kernel.scheduling.ports import Bell
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.ports import Archive, Clock

PATIENCE = 5.0  # seconds for another process that changes jobs at this moment
ANEW = frozenset({"schedule", "zone"})
"""What makes a job begin to count again."""


class Jobs:
    """The jobs of a home, or of all that share its store. ``ground`` gives what wishes are held against, ``session``
    the conversation in which somebody asks, ``new_id`` ids of jobs; ``where`` is the working folder, ``zone`` the time
    zone of times for which none is named."""

    def __init__(  # noqa: PLR0913 - what it stands on, each by its name
        self, book: Book, store: Archive, home: Path, clock: Clock, *, bell: Bell, agenda: Agenda,
        settings: Callable[[], Settings], where: Callable[[], str], new_id: Callable[[], str],
        ground: Callable[[Path, str], Ground], session: Callable[[], str] = lambda: "",
        zone: Callable[[], str] = local_name,
    ) -> None:  # fmt: skip
        self.home = home
        self.clock = clock
        self.settings = settings
        self.where = where
        self.session = session
        self._book = book
        self._store = store
        self._bell = bell
        self._agenda = agenda
        self._new_id = new_id
        self._ground = ground
        self.zone = zone

    # --- making and changing

    def add(self, when: str, prompt: str = "", *, by: str = "person", **wishes: Any) -> Job:
        """Make a job that does `prompt`, or runs the ``notebook``, at the times that `when` says.

        Args:
            when: such as ``every monday 9am``, ``in 90 minutes``, ``0 9 * * 1-5``.
            prompt: what is to be done.
            by: who wants it, one of `core.learnt.WHO`.
            wishes: by name: ``notebook``, ``name``, ``zone``, ``parameters``, ``skills``, ``tools``, ``model``,
                ``budget``, ``folder``, ``repeat``, ``misfire``, ``grace``, ``jitter``, ``timeout``, ``deliver``,
                ``approvals``, ``jobs``, ``keep``, ``anywhere``; see `core.schedule.job.Job` for what they mean.

        Raises:
            HermesError: something of it cannot be, or the store cannot be written; nothing was made.
        """
        with self._alone():
            job = self.draft(when, prompt, by=by, **wishes)
            self._record(JobSet(job, by, self.session()))
        return job

    def draft(self, when: str, prompt: str = "", *, by: str = "person", **wishes: Any) -> Job:
        """The job that `add` would make. Raises as that; nothing is made."""
        now, ground = self.clock.now(), self._ground(Path(self.where()), by)
        given = {name: wish for name, wish in wishes.items() if wish is not None}
        zone = given.pop("zone", "") or self.zone()
        usual = {"folder": str(ground.folder), "anywhere": False}
        fields = understood({**usual, **work(prompt, given), **given}, ground)
        said = timed(when, now, zone)
        taken = {job.name for job in self._living().values()}
        fields["name"] = free_name(fields, taken)
        job = Job(
            id=self._new_id(), schedule=text(said.when), zone=said.zone, since=now, place=self._place(fields), **fields
        )
        checked_jitter(job, now)
        checked_whole(job)
        return _as_agreed(job, by) if job.notebook else job

    def keep(self, job: Job, before: Job | None = None, *, by: str = "person") -> Job:
        """Have `job` be, just as `draft` made it, or `changed` of ``before``, and as somebody has agreed to it.

        Raises:
            HermesError: meanwhile a job of its name was made, or it is not as it was before; nothing was changed.
        """
        with self._alone():
            living = self._living()
            if living.get(job.id) != before:
                raise HermesError(f"{job.name} was changed meanwhile by somebody else. Look at it, and ask again.")
            free_name({"name": job.name}, {each.name for each in living.values() if each.id != job.id})
            if before and job.since == before.since:
                job = self._anew(job, before)
            if job != before:
                self._record(JobSet(job, by, self.session()))
        return job

    def change(self, which: str, *, by: str = "person", **changes: Any) -> Job:
        """Have the job be otherwise: ``when`` and any of the wishes of `add`; the next run is by them.

        Raises:
            HermesError: there is no such job, or something of it cannot be; nothing was changed.
        """
        with self._alone():
            before = self.find(which)
            job = self.changed(before, by=by, **changes)
            if job != before:
                self._record(JobSet(job, by, self.session()))
        return job

    def changed(self, job: Job, *, by: str = "person", **changes: Any) -> Job:
        """What `change` would make of `job`. Raises as that; nothing is changed."""
        now, ground = self.clock.now(), self._ground(Path(job.folder or self.where()), by)
        when, zone = changes.pop("when", None), changes.pop("zone", None)
        fields = understood(exclusive(job, changes), ground)
        if "name" in fields and fields["name"] != job.name:
            free_name(fields, {each.name for each in self._living().values()})
        if "anywhere" in fields:
            fields["place"] = self._place(fields)
        if when is not None or zone is not None:
            said = timed(job.schedule if when is None else when, now, zone or job.zone)
            fields |= {"schedule": text(said.when), "zone": said.zone}
        made = replace(job, **fields)
        if any(getattr(made, name) != getattr(job, name) for name in ANEW):
            made = replace(made, since=now)
        made = self._anew(made, job)
        checked_jitter(made, now)
        checked_whole(made)
        return _as_agreed(made, by) if "notebook" in changes else made

    def pause(self, which: str, *, by: str = "person") -> Job:
        """Have nothing of it be due until `resume`. A run that goes on goes on. `HermesError` as `change`."""
        return self._set(which, by, enabled=False)

    def resume(self, which: str, *, by: str = "person") -> Job:
        """Have it be due again, from now on. `HermesError` as `change`."""
        return self._set(which, by, enabled=True)

    def remove(self, which: str, *, by: str = "person") -> Job:
        """Have it be no more; what it did stays. A run that goes on is stopped. `HermesError` as `change`."""
        with self._alone():
            job = self.find(which)
            open_run = self._ledger(job).open
            stops = (StopWanted(open_run.run, by, self.session()),) if open_run else ()
            self._record(*stops, JobRemoved(job.id, by, self.session()))
        if open_run:
            self._bell.ring(open_run.run)
        return job

    def _set(self, which: str, by: str, *, enabled: bool) -> Job:
        with self._alone():
            job = self.find(which)
            if job.enabled is enabled:
                return job
            made = replace(job, enabled=enabled, since=self.clock.now() if enabled else job.since)
            self._record(JobSet(made, by, self.session()))
        return made

    # --- running

    def run(self, which: str, *, by: str = "person") -> str:
        """Have it run once, as soon as somebody looks, whatever its schedule; the run's id. `HermesError` as
        `change`."""
        job = self.find(which)
        run = asked_id(job.id, self.clock.now(), self._new_id()[-4:])
        self._record(RunWanted(job.id, run, by, self.session()))
        return run

    def stop(self, which: str, *, by: str = "person") -> str:
        """Stop the run that goes on: its id, the beginning of it, or its job's name; the run's id.

        Raises:
            HermesError: there is no such run or job, or it has ended.
        """
        with explained():
            living = self._book.jobs()
            ledgers = self._book.ledgers(living)
        run = found_run(which, living, ledgers)
        self._record(StopWanted(run, by, self.session()))
        self._bell.ring(run)
        return run

    # --- looking

    def find(self, which: str) -> Job:
        """The job that `which` names: its name, its id, or four or more characters of the id's beginning.

        Raises:
            HermesError: there is none, or several; the text names those that come close.
        """
        return found(which, self._living())

    def list(self) -> tuple[Standing, ...]:
        """Where each job stands, in the order in which they were made. `HermesError`: the store cannot be read."""
        with explained():
            living = self._book.jobs()
            ledgers = self._book.ledgers(living)
        now = self.clock.now()
        return tuple(standing(job, ledgers[job.id], now) for job in living.values())

    def runs(self, which: str = "", limit: int = 20) -> tuple[RunRow, ...]:
        """What became of the last instants of a job (none named: of all), the newest first. `which` may be a run's id,
        too, and a job that was removed. `HermesError`: there is no such job or run."""
        with explained():
            return latest(self._store, which, limit, self.clock.now())

    def understood(self, job: Job) -> str:
        """When it runs, as it was understood, and the next three times; in two lines."""
        return f"{sentence_of(job)}\nnext: {self.ahead(job).text}"

    def ahead(self, job: Job) -> Ahead:
        """The next times at which it runs, for as many runs as are left to it."""
        return ahead(job, self._ledger(job).runs, self.clock.now())

    # --- what they share

    def _living(self) -> Mapping[str, Job]:
        with explained():
            return self._book.jobs()

    def _ledger(self, job: Job) -> Ledger:
        """What became of it; nothing yet, where it is still to be made."""
        living = self._living()
        with explained():
            return self._book.ledgers({job.id: job})[job.id] if job.id in living else Ledger()

    def _anew(self, job: Job, before: Job) -> Job:
        """`job`; one that was over and is no more counts from now on, for at the times since nothing was due."""
        ledger = self._ledger(before)
        return replace(job, since=self.clock.now()) if over(before, ledger) and not over(job, ledger) else job

    def _place(self, fields: dict[str, Any]) -> str:
        with explained():
            return "" if fields.pop("anywhere") else here(self.home)

    def _record(self, *facts: Any) -> None:
        if any(fact.by == "person" for fact in facts):
            as_a_run_may(self.settings())
        with explained():
            self._book.record(*facts)
            self._announce()

    def _announce(self) -> None:
        living = self._book.jobs()
        ledgers, place = self._book.ledgers(living), here(self.home)
        mine = [job for job in living.values() if job.place in {"", place}]
        starts = [start for job in mine if (start := next_known(job, ledgers[job.id])) is not None]
        self._agenda.write(min(starts, default=None))
        self._bell.ring(JOBS)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        path = self.home / "schedule" / "jobs.lock"
        try:
            with explained(), held(path, PATIENCE):
                yield
        except Busy:
            raise HermesError("Another process is changing jobs at this moment. Try again.") from None
        except OSError as error:
            raise HermesError(f"{path} cannot be written ({error.strerror or error}): nothing was changed.") from None


def _as_agreed(job: Job, by: str) -> Job:
    """A person's notebook is run as it is by then; one that a model names, as it is when somebody agrees to it."""
    return replace(job, digest=digest_of(Path(job.notebook)) if by == "model" else "")
