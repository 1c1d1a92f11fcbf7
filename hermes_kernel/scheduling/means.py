"""What ticking works with, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.ports import Bell, Deliverer, Runner
from hermes_kernel.world.ports import Clock


class Notice(Protocol):
    """Where everybody in the home reads when there is next something to do."""

    def write(self, next: float | None) -> None:  # noqa: A002 - the seam's word
        """It is at `next`, in seconds since 1970; None: never, as things stand."""
        ...

    def read(self) -> float | None:
        """What was written last, by whomever."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """``place`` is the id of ``home``, ``workers`` how many runs go on at once, ``shared`` that other homes share its
    store. A run's bell is listened to every ``listens`` seconds; ``looks`` are those between two looks whether anything
    became due while something runs."""

    book: Book
    runner: Runner
    deliverer: Deliverer
    bell: Bell
    agenda: Notice
    clock: Clock
    place: str
    home: Path
    workers: int
    shared: bool = False
    listens: float = 0.1
    looks: float = 0.5

    def may_run(self, job: Job) -> bool:
        """In this home."""
        return job.place in {"", self.place}

    def cut_off(self, job: Job) -> str:
        """Why `job`, which other homes may run as well, must not be acted on now; nothing where it may."""
        return self.book.away if self.shared and not job.place else ""


@dataclass(frozen=True, slots=True)
class Handled:
    """Something was done about the job called ``name``, in one line."""

    job: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"
