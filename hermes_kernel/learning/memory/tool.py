"""The tool ``memory``: what a model may do with what is remembered, and when a person is asked first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from hermes_kernel.core.events import Approved
from hermes_kernel.core.learning.memory import MemoryRefused, MemoryThreat, Operation
from hermes_kernel.core.learning.memory_words import asked, done, failed, understood
from hermes_kernel.core.question import Question
from hermes_kernel.world.store.disk import StoreError
from hermes_kernel.world.tools.approvals import bounded
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.speaking import SPEAKER, UNHURRIED, ask_person, the_floor
from hermes_kernel.world.tools.threads import in_thread
from hermes_kernel.world.tools.tool import Tool, built_in

if TYPE_CHECKING:
    from hermes_kernel.learning.memory.memory import Memory

OFF = "What is remembered may not be changed by a model here (the setting memory_writes is off): go on without it."
NO = "The person does not want that remembered. Nothing was changed; do not try it in another form."
LEFT = "Nothing was changed: {why}. It waits for the person as proposal {id}; do not send it again."
CHOICES = ("yes", "no")
THREAD = "hermes-memory"  # of a change that waits for another process: nobody's end waits for it


class Step(TypedDict, total=False):
    """One of several operations."""

    action: Literal["add", "replace", "remove"]
    content: str
    old: str


def make_memory(memory: Memory, session: Callable[[], str], by: str, writes: Callable[[], str]) -> Tool:
    """The tool of `memory` for whoever is ``by``."""
    desk = _Desk(memory, session, by, writes)

    async def change(
        action: Literal["add", "replace", "remove", "batch"] = "batch",
        target: Literal["memory", "user"] = "memory",
        content: str = "",
        old: str = "",
        operations: list[Step] | None = None,
    ) -> Result:
        """Remember something lasting, or correct what is remembered; later sessions begin with it. Save what spares
        the person saying it again: preferences and corrections first, then facts of their machine, data and
        conventions. Not: what is easily found again, the state of a task, long data; how something is done belongs in
        a skill. Short, self-contained entries. When it is full, shorten, join and remove in one call with `operations`.

        Args:
            action: What to do; `batch` does `operations`, all or nothing.
            target: `user` is who the person is and how they like things; `memory` is everything else.
            content: For add and replace, the entry as it shall be.
            old: For replace and remove, a part of the entry meant that no other entry has.
            operations: For batch, each with action, content and old.
        """
        rows: list[Any] = list(operations or []) if action == "batch" or operations else []
        single = [] if rows else [{"action": action, "content": content, "old": old}]
        _, wanted = understood({"operations": [*rows, *(single if action != "batch" else [])]})
        return await desk.do(target, wanted)

    return built_in(change, name="memory", exclusive=True, seconds=UNHURRIED)


@dataclass(slots=True)
class _Desk:
    """What one session's tool knows: in whose name it writes, and how often in a row that failed."""

    memory: Memory
    session: Callable[[], str]
    by: str
    writes: Callable[[], str]
    tries: int = 0

    async def do(self, target: str, operations: tuple[Operation, ...]) -> Result:
        if self.writes() == "off":
            raise ToolError(OFF)
        try:
            text = await self._done(target, operations)
        except (MemoryRefused, StoreError) as error:
            self.tries += 1
            raise ToolError(failed(error, self.tries)) from None
        self.tries = 0
        return Result(text)

    async def _done(self, target: str, operations: tuple[Operation, ...]) -> str:
        try:
            if self.writes() == "ask":
                await in_thread(partial(self.memory.tried, target, operations), THREAD)
                if not await self._allowed(target, operations):
                    return await self._left(target, operations, "it needs the person's word, and nobody gave it")
            apply = partial(self.memory.apply, target, operations, by=self.by, session=self.session())
            return done(await in_thread(apply, THREAD))
        except MemoryThreat as threat:
            return await self._left(target, operations, f"it is suspicious ({threat})")

    async def _allowed(self, target: str, operations: tuple[Operation, ...]) -> bool:
        """Whether the person said yes; not when nobody is there."""
        speaker = SPEAKER.get(None)
        person = speaker.tools.person if speaker else None
        if speaker is None or person is None:
            return False
        text, given = "May the agent change what it remembers?", bounded(asked(target, operations))
        question = Question(text, CHOICES, "it is left to you as a proposal", tool="memory", given=given)
        async with the_floor():
            answer = await ask_person(person, question)
        if answer is None:
            return False
        yes = answer.strip().lower() == "yes"
        await speaker.tell(Approved(speaker.call_id, yes, "person"))
        if not yes:
            raise ToolError(NO)
        return True

    async def _left(self, target: str, operations: tuple[Operation, ...], why: str) -> str:
        propose = partial(self.memory.propose, target, operations, by=self.by, session=self.session())
        left = await in_thread(propose, THREAD)
        return LEFT.format(why=why.rstrip("."), id=left.id)
