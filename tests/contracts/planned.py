"""What the tests of jobs share: a home with jobs in it, over a log in memory or a store on disk, and a told time."""

from __future__ import annotations

import json
from functools import partial

from hermes_kernel.core.redact import redact
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.delivery.targets import Targets
from hermes_kernel.scheduling.jobs import Jobs
from hermes_kernel.scheduling.wishes import Ground
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.stores import counted

NOON = 1_796_126_400.0
"""Tuesday, 1 December 2026, 12:00 UTC."""
HOUR, DAY = 3_600.0, 86_400.0
IDS = counted("")
SKILLS = ("monthly-report", "plotting-well")
SECRET = "sk-proj-0123456789abcdefghijABCDEFGHIJ0123456789"


class Told(SystemClock):
    """A clock that stands still until it is put on."""

    def __init__(self, now=NOON):
        self.time = now

    def now(self):
        return self.time


def log_of(kind, home, clock):
    return MemoryLog(clock=clock) if kind == "memory" else Store(home, clock=clock, ids=counted("log"))


class House:
    """A home, the work folder beside it, and its jobs."""

    def __init__(self, folder, kind="store", clock=None, log=None, new_id=None):
        self.home = folder / "home"
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.clock = clock or Told()
        self.log = log or log_of(kind, self.home, self.clock)
        self.settings = Settings(home=self.home)
        self.targets = Targets(self.home, self.settings, environ={})
        self.book = Book(self.log, new_id or counted("book"), self.clock)
        self.agenda = Agenda(self.home)
        self.bell = FileBell(self.home)
        self.jobs = Jobs(
            self.book, self.log, self.home, self.clock, bell=self.bell, agenda=self.agenda,
            settings=lambda: self.settings, where=lambda: str(self.work), zone=lambda: "UTC",
            new_id=new_id or (lambda: f"{int(IDS()):08x}{'0' * 24}"), ground=self.ground,
        )  # fmt: skip

    def ground(self, folder, by):
        return Ground(folder, redact, partial(self.targets.named, by=by), lambda: SKILLS)

    def notebook(self, name="report.ipynb", **changes):
        """The path of a notebook in the work folder."""
        plain = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}
        path = self.work / name
        path.write_text(json.dumps(plain), encoding="utf-8")
        return path

    def names(self):
        return [each.job.name for each in self.jobs.list()]
