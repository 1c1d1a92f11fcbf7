"""`Learning`: the lore of a home in the hands of an agent: tools, a part of the system prompt, and the slow loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Spent
from hermes_kernel.core.learning.skill_index import index_in
from hermes_kernel.core.turn import Turn
from hermes_kernel.learning.holding import held_back
from hermes_kernel.learning.lore import Lore
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.tools import Tool

if TYPE_CHECKING:
    from hermes_kernel.learning.reflecting import Reflector


class Learning(Lore):
    """That of the agent of ``session``. Keeps `ports.Beside` and `ports.Knowledge`. ``stays``: in a process that does,
    such as a kernel, so that the curator is run from here when it is due."""

    def __init__(self, resources: Resources, session: Session) -> None:
        super().__init__(resources)
        self._session = session
        self._told = ""
        self._attended = False
        self.stays = False
        resources.equipment.knowledge = self

    @cached_property
    def reflector(self) -> Reflector:
        """What looks back at the conversation, beside it."""
        from hermes_kernel.learning.reflecting import Means, Reflector

        means = Means(self.resources, self.chronicle, self.memory, self.skills, self.workshop, self.asking)
        return Reflector(means, self._here)

    def tools(self) -> tuple[Tool, ...]:
        """The tools with which its model learns."""
        settings, person = self.settings, self.resources.equipment.tools.person
        return (
            self.memory.tool(self._here, "model", lambda: self.settings.memory_writes),
            *self.skills.tools(self._here, "model", settings.tool_result_chars),
            self.workshop.tool(
                self._here, "model", lambda: self.settings.skill_writes, lambda: person is not None and person.present
            ),
        )

    # --- for prompts

    def block(self) -> str:
        """What is remembered, and which skills there are; only the former, where the model is a small one."""
        remembered = self.memory.block()
        if self.resources.equipment.models.small:
            return remembered
        return "\n\n".join(filter(None, (remembered, self.skills.index())))

    def note(self, turn: Turn) -> str:
        """What has become of the skills since the session's index of them was made. The same is told once."""
        index = index_in(turn.system)
        if not index or self.resources.equipment.models.small:
            return ""
        news = self.skills.news(index, turn.session_id)
        told, self._told = self._told, news
        return news if news != told else ""

    # --- beside the turn

    @contextmanager
    def during(self, latest: Callable[[], Turn]) -> Iterator[None]:
        """While a turn is played looks give way to it; what it has taught is looked at when it is over."""
        before = latest()
        if self._attended:
            self.curator.give_way()
        with self.reflector.giving_way():
            try:
                yield
            finally:
                if (turn := latest()) is not before and turn.final:
                    with suppress(StoreError):  # how a turn was cut is written with what comes next, and a look is next
                        self._session.flush()
                    self.reflector.after(turn)
                    self._attend()

    def owed(self) -> tuple[Spent, ...]:
        """What looks at this conversation have cost, each once."""
        return self.reflector.owed() if self._looked else ()

    def moves(self, session: str) -> None:
        """`session` was compressed, and the conversation is about to go on in another: what it has word for word is
        looked at, whoever said it and when."""
        if not held_back(self.settings):
            self.reflector.moves(session)

    def leave(self) -> None:
        """Another conversation is about to begin."""
        self._told = ""
        if self._looked:
            self.reflector.leave()

    def warm(self) -> None:
        """Import what the first turn and its end need."""
        self.resources.equipment.models.warm()
        _ = self.reflector

    def close(self) -> None:
        """Let go of what goes on beside the conversation. Can be called again."""
        if self._looked:
            self.reflector.close()

    def let_go(self, close: Callable[[], None]) -> None:
        """`close` what it writes to; where it still writes, once more when it has ended. After its own `close`."""
        close()
        if self._looked:
            self.reflector.when_gone(close)

    @property
    def _looked(self) -> bool:
        """There was a turn to look at."""
        return "reflector" in self.__dict__

    def _attend(self) -> None:
        """From here on the curator runs when it is due, where that has any sense."""
        if self.stays and not self._attended and not held_back(self.settings):
            self._attended = True
            self.reflector.beside(self.curator.attend())

    def _here(self) -> str:
        return self._session.turn.session_id
