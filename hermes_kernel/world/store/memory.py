"""A log that lasts as long as the process: for tests, and for turns that must leave no trace."""

from __future__ import annotations

from contextlib import ExitStack

from hermes_kernel.core.events import Kept, Opened
from hermes_kernel.world.store.places import NoSession, StoreError


class MemoryLog:
    """`ports.Archive` that holds the facts themselves."""

    def __init__(self) -> None:
        self._facts: dict[str, list[Kept]] = {}
        self._claimed: set[str] = set()

    def append(self, session_id: str, *events: Kept) -> None:
        facts = self._facts.setdefault(session_id, [])
        facts.extend(events)
        self._facts[session_id] = self._facts.pop(session_id)  # the last active stands last

    def recall(self, session_id: str) -> list[Kept]:
        if session_id not in self._facts:
            raise NoSession(session_id, self._facts)
        return list(self._facts[session_id])

    def latest(self, notebook: str | None = None) -> str | None:
        """The id of the session last active, in one notebook or in any."""
        active = reversed(self._facts.items())
        return next((name for name, facts in active if notebook is None or _is_of(notebook, facts)), None)

    def claim(self, session_id: str) -> ExitStack:
        """The right to act on a session, until closed.

        Raises:
            StoreError: somebody has it.
        """
        if session_id in self._claimed:
            raise StoreError(f"session {session_id!r} is in use: stop it there, or ask in a new session")
        self._claimed.add(session_id)
        claim = ExitStack()
        claim.callback(self._claimed.discard, session_id)
        return claim

    def fold_apart(self) -> None:
        """There is nothing to fold."""

    def close(self) -> None:
        """There is nothing to leave."""


def _is_of(notebook: str, facts: list[Kept]) -> bool:
    return any(isinstance(fact, Opened) and fact.notebook == notebook for fact in facts)
