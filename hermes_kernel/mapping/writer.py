"""The store's pen in a thread of its own: a row waits for the disk, the others go on, and what they have to say
meanwhile is written together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from hermes_kernel.core.events import Final, Kept, Opened
from hermes_kernel.core.plain import dump
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.ports import Archive, Clock
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.records import Record

Told = tuple[str, tuple[Kept, ...]]
"""Facts, and the session they belong to."""


class Writer:
    """Appends to the sessions of rows, which nobody else writes while their map is claimed."""

    def __init__(self, store: Archive, clock: Clock) -> None:
        self._pen = _Pen(store, clock) if isinstance(store, Store) else _OneByOne(store)
        self._thread = ThreadPoolExecutor(1, "hermes-map")
        self._waiting: list[Told] = []
        self._written: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def append(self, session_id: str, *events: Kept) -> None:
        """On disk when it returns.

        Raises:
            StoreError: the disk is full or the home is read-only.
        """
        if self._written is None:
            self._written = asyncio.get_running_loop().create_future()
        self._waiting.append((session_id, events))
        written = self._written
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._write())
        await asyncio.shield(written)

    async def _write(self) -> None:
        """Everything that waits, and what comes to wait meanwhile after it."""
        while self._written is not None:
            told, self._waiting = self._waiting, []
            written, self._written = self._written, None
            writing = asyncio.get_running_loop().run_in_executor(self._thread, self._pen.write, told)
            await asyncio.wait({writing})
            if (error := writing.exception()) is not None:  # a bug of ours, too: else those who wait do so for ever
                written.set_exception(error)
            else:
                written.set_result(None)

    def close(self) -> None:
        """Return when what was begun is written."""
        self._thread.shutdown()


class _OneByOne:
    """An archive that is not on this disk."""

    def __init__(self, store: Archive) -> None:
        self._store = store

    def write(self, told: Sequence[Told]) -> None:
        for session_id, events in told:
            self._store.append(session_id, *events)


class _Pen:
    """Gives facts their places and has the disk waited for once, however many sessions they are of."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._name = fresh_id()
        self._minted = 0
        self._ends: dict[str, tuple[int, float]] = {}

    def write(self, told: Sequence[Told]) -> None:
        """Raises:
        StoreError: the disk is full or the home is read-only.
        """
        self._store.take([record for session_id, events in told for record in self._placed(session_id, events)])
        for session_id, events in told:
            if isinstance(events[-1], Final):
                self._ends.pop(session_id, None)

    def _placed(self, session_id: str, events: Sequence[Kept]) -> list[Record]:
        n, last = self._end(session_id, events[0])
        now = max(self._clock.now(), last)
        self._ends[session_id] = (n + len(events), now)
        return [Record(self._uid(), session_id, n + at, now, dump(event)) for at, event in enumerate(events)]

    def _end(self, session_id: str, first: Kept) -> tuple[int, float]:
        """Where a session's next fact goes. One that is only now opened has no earlier ones."""
        if isinstance(first, Opened):
            return 0, 0.0
        if session_id not in self._ends:
            last = self._store.records(session_id)[-1]
            return last.n + 1, last.t
        return self._ends[session_id]

    def _uid(self) -> str:
        self._minted += 1
        return f"{self._name}.{self._minted}"
