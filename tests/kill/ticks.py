"""A process that ticks until it is killed, on a clock of which a minute passes in a fifth of a second; its runs are small
Python programs that leave a line each in a file."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.means import Means
from hermes_kernel.scheduling.ports import Ran, Report, Runner, Work
from hermes_kernel.scheduling.ticking import Ticker
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store

SPEED = 300.0
START = 1_796_000_400.0
PLACE = "a-home"
WORK = """
import os, sys, time
done = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
os.write(done, f"begun {sys.argv[2]}\\n".encode())
time.sleep(float(sys.argv[3]))
os.write(done, f"ended {sys.argv[2]}\\n".encode())
"""


class Hurried(SystemClock):
    """The same time in all processes that began to count at ``zero``."""

    def __init__(self, zero: float) -> None:
        self._zero = zero

    def now(self) -> float:
        return START + (time.time() - self._zero) * SPEED


class Still(SystemClock):
    """No time passes."""

    def __init__(self, t: float) -> None:
        self._t = t

    def now(self) -> float:
        return self._t


class Program:
    """A `Runner` whose runs are processes."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def run(self, work: Work, stop: Stop) -> Ran:
        seconds = "0.01" if work.due % 3 else "0.2"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-E", "-c", WORK, str(self._home / "done.txt"), work.run, seconds
        )
        return Ran("failed" if await process.wait() else "ran", text=work.run)


class Held:
    """A `Runner` that says what it runs, and is done when there is a file ``go``."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def run(self, work: Work, stop: Stop) -> Ran:
        print(work.run, flush=True)
        while not (self._home / "go").exists():
            await asyncio.sleep(0.05)
        return Ran("ran", text=work.run)


class Paper:
    """A `Deliverer` that writes a line for each report."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def deliver(self, report: Report, target: str) -> str:
        with (self._home / f"{target}.txt").open("a") as file:
            file.write(f"{report.run}\n")
        return ""


def ticker(home: Path, store: Store, clock: Clock, runner: Runner | None = None) -> Ticker:
    return Ticker(
        Means(
            Book(store, fresh_id, clock), runner or Program(home), Paper(home), FileBell(home), Agenda(home), clock, PLACE, home,
            workers=2, looks=0.05,
        )
    )  # fmt: skip


def child(home: str, zero: float) -> None:
    """Tick for ever."""
    os.setpgrp()
    clock = Hurried(zero)
    store = Store(Path(home), clock=clock)
    while True:
        asyncio.run(ticker(Path(home), store, clock).tick(Stop()))
        time.sleep(0.01)


def once(home: Path) -> None:
    """One tick, whose runs are `Held`."""
    store = Store(home)
    asyncio.run(ticker(home, store, SystemClock(), Held(home)).tick(Stop()))
    store.close()
