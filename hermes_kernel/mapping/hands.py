"""Who asks the rows: tasks of this very loop, or any `concurrent.futures.Executor`. Both give back a row's facts."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import aclosing, suppress
from typing import Any, Protocol

from hermes_kernel.core.events import Event, Interrupted, Kept, Replied, is_kept
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.mapping.asking import Ask, Means, ask, given_up
from hermes_kernel.mapping.elsewhere import STOPS, Job, Sent, client_of, forget, is_dask, once, work
from hermes_kernel.mapping.writer import Writer
from hermes_kernel.world.spec import apart
from hermes_kernel.world.stop import Stop, Stopped


class Lost(Exception):
    """A row that was handed out does not come back; whether it was asked is not known. One line says why."""


class Refused(Exception):
    """A row was not taken, and no other will be. One line says why."""


class Hands(Protocol):
    """Asks rows, several at once."""

    async def ask(self, row: Ask, stop: Stop) -> list[Kept]:
        """Ask a row whose beginning is on disk. Its further facts are on disk when it returns.

        Raises:
            Lost: it does not come back.
            Refused: it was not taken.
            StoreError: the store cannot be written.
        """
        ...

    def close(self) -> None:
        """No row will be handed out any more."""
        ...


class Here:
    """Rows as tasks of this loop, over one model and its connections: the facts are written as they happen."""

    def __init__(self, writer: Writer, means: Means, see: Callable[[Event], None]) -> None:
        """``see`` is told everything that happens."""
        self._writer = writer
        self._means = means
        self._see = see

    async def ask(self, row: Ask, stop: Stop) -> list[Kept]:
        apart(self._means.clock)
        facts: list[Kept] = []
        written = 0
        async with aclosing(ask(row, self._means, stop)) as told:
            async for event in told:
                self._see(event)
                if is_kept(event):
                    facts.append(event)
                if len(facts) > written and not _goes_on(facts[-1]):
                    await self._writer.append(row.session_id, *facts[written:])
                    written = len(facts)
        return facts

    def close(self) -> None:
        pass


def _goes_on(fact: Kept) -> bool:
    """What follows from this fact follows at once, and is written with it: one wait for the disk instead of two."""
    return isinstance(fact, Interrupted) or (isinstance(fact, Replied) and not fact.calls)


class There:
    """Rows as jobs of an executor, which is the caller's and stays open. Its workers need no disk of ours: what they
    bring back is written here."""

    def __init__(self, executor: Executor, writer: Writer, sent: Sent, ids: Callable[[], str]) -> None:
        """``sent`` goes to the workers with each row; ``ids`` gives a text that is different each time."""
        self._executor = executor
        self._writer = writer
        self._sent = sent
        self._ids = ids
        self._stop = ids()

    def check(self, row: Ask) -> None:
        """Raises:
        HermesError: what is to be sent to other processes cannot be.
        """
        if isinstance(self._executor, ProcessPoolExecutor):
            try:
                pickle.dumps(self._job(row))
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise HermesError(
                    f"These tools cannot go to another process: {brief(str(error), 200)}. "
                    "Define them in a module, as plain functions without @tool."
                ) from None

    async def ask(self, row: Ask, stop: Stop) -> list[Kept]:
        job = self._job(row)
        STOPS[job.stop] = stop
        future = self._submitted(job)
        facts = await self._wait(row, future, stop)
        await self._writer.append(row.session_id, *facts)
        if is_dask(self._executor):
            with suppress(Stopped):
                await stop.race(asyncio.to_thread(forget, self._executor, job.lease))
        return facts

    def _submitted(self, job: Job) -> Future[tuple[Kept, ...] | None]:
        try:
            return self._executor.submit(work, job, **once(self._executor))
        except (BrokenExecutor, RuntimeError) as error:
            raise Refused(f"the executor takes no more rows: {_in_words(error)}") from None
        except Exception as error:  # noqa: BLE001 - an executor of somebody's own, or the way to a cluster
            raise Lost(f"the executor did not say that it took it: {_in_words(error)}") from None

    async def _wait(self, row: Ask, future: Future[tuple[Kept, ...] | None], stop: Stop) -> list[Kept]:
        done = asyncio.wrap_future(future)
        try:
            await stop.race(_settled(done))
        except Stopped:
            done.cancel()
            return list(given_up(row, (), stop.by))
        if done.cancelled():
            raise Lost("the executor gave it up")
        if error := done.exception():
            raise Lost(f"its worker is gone: {_in_words(error)}")
        facts: object = done.result()  # of a worker that may be of another version
        if facts is None:
            raise Lost("its worker died while it was being asked")
        if not isinstance(facts, tuple) or not all(map(is_kept, facts)):
            raise Lost("its worker brought back what is no answer; does it have another version of hermes-kernel?")
        return list(facts)

    def _job(self, row: Ask) -> Job:
        return Job(row, self._sent, lease=self._ids(), stop=self._stop)

    def close(self) -> None:
        STOPS.pop(self._stop, None)


def _in_words(error: BaseException) -> str:
    return brief(" ".join(f"{type(error).__name__}: {error}".split()), 200)


async def _settled(future: asyncio.Future[Any]) -> None:
    await asyncio.wait({future})


def slots(executor: Executor) -> int:
    """How many rows an executor can ask at once; 0 where it does not say.

    Raises:
        HermesError: it is a Dask cluster that cannot be reached.
    """
    if is_dask(executor):
        try:
            return sum(client_of(executor).nthreads().values())
        except (OSError, RuntimeError, ValueError) as error:
            raise HermesError(f"The Dask cluster of this executor cannot be reached: {_in_words(error)}") from None
    return int(getattr(executor, "_max_workers", 0))  # there is no public name for it
