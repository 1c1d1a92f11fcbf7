"""A home at hand for a question: its database attached read-only, if there is one, and what is not in it yet.

What it costs to be ready is paid once: a DuckDB that stays, with nothing attached between questions, and a tail that is
read only where it has grown.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.world.store import database
from hermes_kernel.world.store.asking.tail import Tail
from hermes_kernel.world.store.fold import fold
from hermes_kernel.world.store.locks import forget_in_child
from hermes_kernel.world.store.places import StoreError
from hermes_kernel.world.store.reading import PATIENCE, Home, opened

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


LONG = 20_000  # facts that are not in the index
SHORT = 2_000  # facts, read again in a fifth of a second; more are not kept until the next question, if ever it comes


_hands: weakref.WeakSet[Hand] = weakref.WeakSet()


def _rest() -> None:
    for hand in tuple(_hands):
        hand.rest()


os.register_at_fork(before=_rest)


class Known(NamedTuple):
    """What there is to be asked: the database, attached as ``store``, and its tail. ``away`` says in one line what
    could not be had, or nothing."""

    connection: DuckDBPyConnection | None
    tail: Tail
    away: str


class Hand:
    """Reaches one home. Safe from any thread, one at a time."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._connection: DuckDBPyConnection | None = None
        self.forget()
        _hands.add(self)
        forget_in_child(self)

    def rest(self) -> None:
        """Let go of DuckDB, unless it is being asked something. The next question begins another."""
        if not self._mutex.acquire(blocking=False):
            return
        try:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
        finally:
            self._mutex.release()

    def forget(self) -> None:
        """Begin anew, as a forked child must. A DuckDB that was being asked something meanwhile has no threads here and
        would abort the process when it is done away with: one reference more than there are keeps it."""
        if self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
        self._mutex, self._connection = threading.Lock(), None
        self._tail, self._beside = Tail(self.home), Tail(self.home)

    @contextmanager
    def reach(self, patience: float = PATIENCE) -> Iterator[Known]:
        """Everything that is there. Whoever folds waits meanwhile.

        Raises:
            HeldOpen: another program has the database open for writing.
            BeingFolded: it is being folded for longer than `patience`, in seconds.
            StoreError: it is damaged or of a newer format.
        """
        path = self.home.places.database
        with self._mutex, self._keeping_little():
            away = "" if path.exists() else self._beside.catch_up(None)
            if not path.exists():
                yield Known(None, self._beside, away)
                return
            with opened(self.home.places, self._duckdb(), patience) as connection:
                if self._beside.size > SHORT:
                    self._beside = Tail(self.home)
                if (ahead := self._tail.ahead(connection)) < LONG:
                    yield Known(connection, self._tail, self._tail.catch_up(connection))
            if ahead < LONG:
                return
            # To read so much would take as long as to fold it, and would have to be done again by the next.
            with suppress(StoreError):
                fold(self.home.places, self.home.shared)
            with opened(self.home.places, self._duckdb(), patience) as connection:
                yield Known(connection, self._tail, self._tail.catch_up(connection))

    @contextmanager
    def _keeping_little(self) -> Iterator[None]:
        """What was read for a question is kept for the next, unless it is much: a kernel asks when a person does, and
        others go on writing."""
        try:
            yield
        finally:
            if self._tail.size > SHORT:
                self._tail = Tail(self.home)

    @contextmanager
    def reach_beside(self) -> Iterator[Known]:
        """What there is without the database."""
        with self._mutex:
            away = self._beside.catch_up(None)
            yield Known(None, self._beside, away)

    def _duckdb(self) -> DuckDBPyConnection:
        if self._connection is None:
            self._connection = database.connect()
        return self._connection
