"""`Learning`: what an agent remembers, its skills, and the slow loops that tend to them, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hermes_kernel.core.events import Spent
from hermes_kernel.core.turn import Turn
from hermes_kernel.learning.chronicle import Chronicle
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.tools import Tool


class Learning:
    """That of the agent of ``session``. Keeps `ports.Beside` and `ports.Knowledge`."""

    def __init__(self, resources: Resources, session: Session) -> None:
        self.chronicle = Chronicle(resources.store, resources.new_id)
        self._session = session
        resources.equipment.knowledge = self

    def tools(self) -> tuple[Tool, ...]:
        """The tools with which its model learns."""
        return ()

    def block(self) -> str:
        return ""

    @contextmanager
    def during(self, latest: Callable[[], Turn]) -> Iterator[None]:
        yield

    def note(self, turn: Turn) -> str:
        return ""

    def owed(self) -> tuple[Spent, ...]:
        return ()

    def leave(self) -> None:
        pass

    def close(self) -> None:
        """Let go of what goes on beside the conversation. Can be called again."""
