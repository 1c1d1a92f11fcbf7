"""A log that lasts as long as the process: `ports.Log` for tests and for turns that must leave no trace."""

from __future__ import annotations

from hermes_kernel.core.events import Kept
from hermes_kernel.world.store.places import NoSession, close_to


class MemoryLog:
    """Holds the facts themselves."""

    def __init__(self) -> None:
        self._facts: dict[str, list[Kept]] = {}

    def append(self, session_id: str, event: Kept) -> None:
        self._facts.setdefault(session_id, []).append(event)

    def recall(self, session_id: str) -> list[Kept]:
        if session_id not in self._facts:
            raise NoSession.unknown(session_id, close_to(session_id, self._facts))
        return list(self._facts[session_id])
