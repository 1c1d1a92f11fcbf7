"""The daily loop put together: the jobs of a home for whoever asks, and what ticks."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.redact import redact
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.jobs import Jobs
from hermes_kernel.scheduling.wishes import Ground
from hermes_kernel.world.tools.terminal import secret_values

if TYPE_CHECKING:
    from hermes_kernel.resources import Resources
    from hermes_kernel.scheduling.ticking import Ticker
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.ports import Archive, Clock
from hermes_kernel.world.zone import UNKNOWN, local_name

Skills = Callable[[], Collection[str]]
"""The names of the skills there are."""


def open_jobs(
    settings: Settings, store: Archive, clock: Clock, new_id: Callable[[], str], skills: Skills | None = None
) -> Jobs:
    """The jobs of the home of `settings`, for a command that needs no agent. Without `skills`, which a job may name is
    not checked."""
    return _jobs(store, clock, new_id, lambda: settings, skills)


def jobs_of(resources: Resources, session: Callable[[], str], skills: Skills) -> Jobs:
    """Those that the agent with these `resources` knows, in the conversation that `session` names."""
    made = _jobs(resources.store, resources.clock, resources.new_id, lambda: resources.equipment.settings, skills)
    made.session = session
    made.where = lambda: str(resources.equipment.tools.cwd)
    return made


def make_ticker(settings: Settings, store: Archive, clock: Clock, new_id: Callable[[], str]) -> Ticker:
    """What does everything in the home of `settings` that is due."""
    from hermes_kernel.scheduling.book import Book
    from hermes_kernel.scheduling.delivery import Messenger
    from hermes_kernel.scheduling.means import Means
    from hermes_kernel.scheduling.place import here
    from hermes_kernel.scheduling.running import NotebookRunner
    from hermes_kernel.scheduling.ticking import Ticker

    home, messenger = settings.home, Messenger(settings.home)
    in_environment = secret_values(os.environ)

    def hidden(text: str) -> str:
        return redact(text, in_environment | settings.secrets | messenger.targets.secrets())

    means = Means(
        Book(store, new_id, clock), NotebookRunner(home, store, clock, redact=hidden), messenger, FileBell(home),
        Agenda(home), clock, here(home), home, workers=settings.schedule_workers, shared=bool(settings.store_url),
    )  # fmt: skip
    return Ticker(means)


def _jobs(
    store: Archive, clock: Clock, new_id: Callable[[], str], settings: Callable[[], Settings], skills: Skills | None
) -> Jobs:
    from hermes_kernel.scheduling.book import Book
    from hermes_kernel.scheduling.delivery.targets import Targets

    home = settings().home

    def ground(folder: Path, by: str) -> Ground:
        targets = Targets(home, settings())
        secrets = settings().secrets | targets.secrets() | secret_values(os.environ)
        return Ground(folder, lambda text: redact(text, secrets), partial(targets.named, by=by), skills)

    return Jobs(
        Book(store, new_id, clock), store, home, clock, bell=FileBell(home), agenda=Agenda(home), settings=settings,
        where=lambda: str(Path.cwd()), new_id=new_id, ground=ground,
        zone=lambda: UNKNOWN if settings().spec else local_name(),
    )  # fmt: skip
