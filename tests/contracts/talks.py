"""A model in this process that talks at length and, asked for a summary, waits at a gate before it says what it should."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hermes_kernel import Agent
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.compression import SYSTEM, is_summary, sound
from hermes_kernel.core.events import Compressed, Compressing, Event, Interrupted
from hermes_kernel.core.messages import ToolSpec, User
from hermes_kernel.testing import ScriptedModel, Step, Tokens, billed, say
from hermes_kernel.testing import call as use
from hermes_kernel.world.stop import Stop, Stopped

T = TypeVar("T")

WINDOW = 16_000
FIXED = 1_500
RECORD = "## Goal and constraints\n- sort the letters\n## Facts to keep word for word\n- the code is heron-4821\n"


def tokens(call: CallModel) -> int:
    """What a call is to this model."""
    return FIXED + sum(4 + len(message.text) // 4 for message in call.transcript)


@contextmanager
def talking(home: Path) -> Iterator[Callable[..., Agent]]:
    """What makes agents of a model that talks, whose window is known; they are closed in the end."""
    made: list[Agent] = []

    def make(talk: Talk, **options: Any) -> Agent:
        given = {"home": home, "context_window": WINDOW, "retry_base_seconds": 0, "max_retries": 0}
        made.append(Agent(talk, [], **(given | options)))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


class Talk:
    """Keeps `ports.Model`. ``summary`` is the answer to a request for one; it is given while `open` is set. ``reads`` names a
    tool that is called before each answer."""

    def __init__(self, summary: Step | None = None, size: int = 500, *, reads: str = "") -> None:
        self.summary, self.size, self.reads = summary or say(RECORD), size, reads
        self.open = asyncio.Event()
        self.asked: list[CallModel] = []
        self.summaries: list[CallModel] = []
        self._answers = ScriptedModel(self._answer)

    async def reply(self, call: CallModel, tools: Sequence[ToolSpec], stop: Stop) -> AsyncGenerator[Event, None]:
        if call.system == SYSTEM:
            self.summaries.append(call)
            try:
                await stop.race(self.open.wait())
            except Stopped:
                yield Interrupted(stop.by)
                return
        await asyncio.sleep(0)
        async with aclosing(self._answers.reply(call, tools, stop)) as events:
            async for event in events:
                yield event

    def _answer(self, call: CallModel) -> Step:
        if call.system == SYSTEM:
            return self.summary
        self.asked.append(call)
        if self.reads and isinstance(call.transcript[-1], User):
            return billed(use(self.reads, {"page": len(self.asked)}), tokens(call), 20)
        return say([f"answer {len(self.asked)} ", "word " * self.size], usage=Tokens(tokens(call), self.size))


async def ask(agent: Agent, prompt: str = "next") -> list[Event]:
    """The events of a turn that is answered, after which the conversation is sound."""
    async with aclosing(agent.stream(prompt)) as events:
        told = [event async for event in events]
    assert agent.turn.outcome == "completed", agent.turn.reason
    assert sound(agent.turn.transcript) == ""
    return told


def of(kind: type[T], events: Iterable[Event]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


async def fill(agent: Agent, happened: Callable[[list[Event]], bool], most: int = 60) -> list[Event]:
    """Turns until something has happened in one."""
    told: list[Event] = []
    for n in range(most):
        told += await ask(agent, f"prompt {n}")
        if happened(told):
            return told
    raise AssertionError(f"it did not happen in {most} turns")


def begun(told: list[Event]) -> bool:
    return any(isinstance(event, Compressing) for event in told)


def compressed(told: list[Event]) -> bool:
    return any(isinstance(event, Compressed) for event in told)


def summaries(agent: Agent) -> list[User]:
    return [m for m in agent.turn.transcript if isinstance(m, User) and is_summary(m)]


async def until(true: Callable[[], bool]) -> None:
    """Return once it is so; what runs beside gets its chance meanwhile."""
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.001)


async def made(agent: Agent) -> None:
    """Return once what was begun beside the turns has come to its end, good or bad."""
    work = agent._equipment.compressor._work
    assert work is not None, "nothing was begun"
    await until(lambda: work.done)
