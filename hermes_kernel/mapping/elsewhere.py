"""The work of one row in another thread, process or machine: a job goes in, facts come out, nothing is written there.

A worker keeps one loop and one model, connections and all, between its rows. A job is begun once: where a scheduler
runs the jobs of a dead worker again, the second start gives up.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import weakref
from concurrent.futures import Executor
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

from hermes_kernel.core.events import Kept, is_kept
from hermes_kernel.mapping.asking import Ask, Given, Means, ask
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.spec import StillClock
from hermes_kernel.world.stop import Stop

STOPS: WeakValueDictionary[str, Stop] = WeakValueDictionary()
"""The latches of maps that run in this process, so that a thread of it hears a stop; a worker elsewhere does not."""

DASK = "distributed"
NAME = "hermes-row-{}"


@dataclass(frozen=True, slots=True)
class Sent:
    """What every worker is told: the settings, the endpoint's key among them, and the tools."""

    settings: Settings
    tools: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One row for a worker. ``lease`` is this job's and no other's; ``stop`` names the map's latch."""

    row: Ask
    sent: Sent
    lease: str
    stop: str


def work(job: Job) -> tuple[Kept, ...] | None:
    """The facts of a row, from what follows its prompt to its end; None where this job had been begun before."""
    if _begun(job.lease):
        return None
    return _bench(job.sent.settings).run(job)


class _Bench:
    """One worker's loop and model."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._clock: Clock = StillClock() if settings.spec else SystemClock()
        self._model = OpenAIModel(settings, self._clock)
        self._runner = asyncio.Runner()
        self.close = weakref.finalize(self, _close, self._runner, self._model)

    def run(self, job: Job) -> tuple[Kept, ...]:
        """The facts of one row."""
        return self._runner.run(self._ask(job))

    async def _ask(self, job: Job) -> tuple[Kept, ...]:
        means = Means(self._model, self.settings, job.sent.tools, self._clock)
        async with aclosing(ask(job.row, means, STOPS.get(job.stop) or Stop())) as told:
            return tuple([event async for event in told if is_kept(event)])


def _close(runner: asyncio.Runner, model: OpenAIModel) -> None:
    with suppress(RuntimeError):  # a process that ends begins no thread from Python 3.12 on; asyncio waits by one
        runner.close()  # the connections of a loop are closed as it shuts down
    model.close()


_here = threading.local()


def _bench(settings: Settings) -> _Bench:
    """This thread's bench; made anew where the settings are others."""
    bench: _Bench | None = getattr(_here, "bench", None)
    if bench is None or bench.settings != settings:
        if bench is not None:
            bench.close()
        _here.bench = bench = _Bench(settings)
    return bench


def _begun(lease: str) -> bool:
    """Whether a job was begun before, as its cluster remembers; only Dask begins one a second time."""
    if DASK not in sys.modules:
        return False
    dask = import_module(DASK)
    try:
        dask.get_worker()
    except ValueError:
        return False
    mark = dask.Event(NAME.format(lease))
    if mark.is_set():
        return True
    mark.set()
    return False


def once(executor: Executor) -> dict[str, Any]:
    """What an executor is told so that it begins a job once, as far as it can be told."""
    return {"pure": False, "retries": 0} if is_dask(executor) else {}


def is_dask(executor: Executor) -> bool:
    """The executor is a Dask cluster's."""
    return type(executor).__module__.partition(".")[0] == DASK


def client_of(executor: Executor) -> Any:
    """The client of a Dask cluster behind its executor, which has no public name there."""
    return vars(executor)["_client"]


def forget(executor: Executor, lease: str) -> None:
    """A job came back: its Dask cluster need not remember it. One that is gone does not."""
    with suppress(OSError, RuntimeError):
        import_module(DASK).Event(NAME.format(lease), client=client_of(executor)).clear()
