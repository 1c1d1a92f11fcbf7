"""A record of what is no part of a turn: facts in a session of their own, one for each process, which no turn reads.

Safe from any thread. What is recorded here is read back with all that other processes recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import cast

from hermes_kernel.core.events import Kept, Opened
from hermes_kernel.core.learnt import LEARNING, LEARNT, Dated, Lesson
from hermes_kernel.world.ports import Archive


class Chronicle:
    """Keeps it in `store`, in a session of this ``kind``. ``new_id`` gives ids of sessions."""

    def __init__(self, store: Archive, new_id: Callable[[], str], kind: str = LEARNING) -> None:
        self._store = store
        self._new_id = new_id
        self._kind = kind
        self._session = ""
        self._lock = threading.Lock()

    def record(self, *facts: Lesson) -> None:
        """On disk when it returns.

        Raises:
            StoreError: the store cannot be written; nothing was recorded.
        """
        with self._lock:
            session = self._session or self._new_id()
            begins: tuple[Kept, ...] = () if self._session else (Opened(session, kind=self._kind),)
            self._store.append(session, *begins, *cast("tuple[Kept, ...]", facts))
            self._session = session

    def read(self, *kinds: type, since: float = 0) -> tuple[Dated, ...]:
        """The facts of these kinds (none named: of what is learnt) at or after `since`, in seconds since 1970, oldest
        first.

        Raises:
            StoreError: the store cannot be read.
        """
        wanted: Collection[type] = kinds or LEARNT
        return self._store.learnt(wanted, since)
