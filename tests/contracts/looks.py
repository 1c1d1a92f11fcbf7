"""A conversation with looks beside it, over real HTTP: what an agent puts together for itself, in pieces that can be
looked at. The server tells by the tools that are offered who asks: the conversation, a nudge, or a review."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from hermes_kernel.core.events import Asked, Event, Opened
from hermes_kernel.core.learnt import LookDue, Looked
from hermes_kernel.core.turn import Turn, recall
from hermes_kernel.equipment import Equipment
from hermes_kernel.learning.memory import Limits, Memory
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.reflecting import Means, Reflector
from hermes_kernel.learning.reflecting.asking import apart
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.workshop import Workshop
from hermes_kernel.limits import turn_limits
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.settings import Settings
from hermes_kernel.testing import Request, Server, Step, call, say
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store
from hermes_kernel.world.tools import tool

LONG = 20.0  # seconds a wait may take on a machine that has much else to do
KEY = "sk-very-secret-0123456789"
BUNDLED = Path(__file__).parents[2] / "hermes_kernel" / "skills"


def new_id() -> str:
    return uuid4().hex


def who(request: Request) -> str:
    """Who asks: ``nudge``, ``review`` or ``chat``."""
    system = str(request.messages[0].get("content", ""))
    if "keep what later conversations" in system:
        return "nudge"
    return "review" if "worth a skill" in system else "chat"


def text_of(request: Request) -> str:
    """The request of the first user message."""
    return str(next(message["content"] for message in request.messages if message["role"] == "user"))


class Parts:
    """Scripts by who asks: a step for every request of a kind, or one after the other, the last for ever."""

    def __init__(self, **steps: Any) -> None:
        self._steps = {"chat": [say("Done.")], "nudge": [say("Nothing.")], "review": [say("Nothing.")]} | {
            name: list(given) if isinstance(given, Iterable) and not isinstance(given, Step) else [given]
            for name, given in steps.items()
        }
        self._lock = threading.Lock()
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Step:
        with self._lock:
            name = who(request)
            self.asked.append(name)
            steps = self._steps[name]
            return steps.pop(0) if len(steps) > 1 else steps[0]


def remember(content: str, target: str = "memory") -> Step:
    """A call of the tool `memory`."""
    return call("memory", {"action": "add", "target": target, "content": content})


@tool
def price(sku: str) -> str:
    """Look up a price."""
    if sku.startswith("bad"):
        raise ValueError(f"there is no {sku}")
    return f"{sku}: 3 EUR"


class Bench:
    """One process's agent in ``home``, with a reflector beside it."""

    def __init__(
        self, home: Path, url: str, *, clock: Any = None, solitary: bool = False,
        chronicle: type[Chronicle] = Chronicle, **settings: Any,
    ) -> None:  # fmt: skip
        """``solitary``: the looks' model answers one call at a time, the conversation's own, too."""
        given = {"learning": True, "approvals": "deny", "retry_base_seconds": 0.01, "max_retries": 1} | settings
        read = Settings.load(home=home, base_url=url, api_key=KEY, model="scripted", environ={}, **given)
        self.clock = clock or SystemClock()
        self.store = Store(home, clock=self.clock)
        self.equipment = Equipment(read, self.clock, finder=self.store)
        self.equipment.tools.add(price)
        resources = Resources(self.equipment, self.store, self.clock, new_id)
        self.session = Session(self.store, turn_limits(read))
        self.chronicle = chronicle(self.store, new_id)
        self.proposals = Proposals(home, self.clock, new_id)
        self.memory = Memory(
            home, lambda: Limits(read.memory_chars, read.user_chars), self.chronicle, self.proposals,
            redact=self.equipment.redact,
        )  # fmt: skip
        self.library = Library(home, BUNDLED, self.chronicle)
        self.workshop = Workshop(self.library, History(home / "history"), self.chronicle, self.proposals, home)
        means = Means(
            resources, self.chronicle, self.memory, self.library, self.workshop,
            lambda: self._asking(solitary),
        )  # fmt: skip
        self.reflector = Reflector(means, lambda: self.session.turn.session_id)
        self.new()

    @asynccontextmanager
    async def _asking(self, solitary: bool) -> AsyncIterator[Aside]:
        async with apart(self.equipment.models) as aside:
            yield replace(aside, solitary=aside.solitary or solitary)

    def said(self, *facts: Any) -> None:
        """A turn was played, somehow."""
        for fact in facts:
            self.session.keep(fact)
        self.reflector.after(self.session.turn)

    def new(self) -> None:
        """Begin another conversation."""
        self.reflector.leave()
        self.pay()
        self.session.open(Opened(new_id(), "You are an assistant."))

    def pay(self) -> None:
        for spent in self.reflector.owed():
            self.session.keep(spent)

    async def ask(self, prompt: str, look: Callable[[Event], None] | None = None) -> Turn:
        """A turn, with everything an agent does around it."""
        with self.reflector.giving_way():
            self.session.close_turn("kernel")
            self.pay()
            world = self.equipment.world(Stop(), None)
            async with aclosing(self.session.play(world, Asked(prompt, budget=20))) as events:
                async for event in events:
                    if look:
                        look(event)
        self.reflector.after(self.session.turn)
        return self.session.turn

    def due(self) -> list[tuple[str, str]]:
        return [(each.fact.loop, each.fact.why) for each in self.chronicle.read(LookDue)]

    def looked(self, loop: str = "nudge") -> list[Looked]:
        return [each.fact for each in self.chronicle.read(Looked) if each.fact.loop == loop]

    def side(self, looked: Looked) -> Turn:
        """The side conversation, as another process would find it."""
        return recall(self.store.recall(looked.aside))

    async def aclose(self) -> None:
        self.reflector.close()
        self.pay()
        await self.equipment.aclose()
        self.close()

    def close(self) -> None:
        self.reflector.close()
        self.equipment.close()
        self.session.close()
        self.store.close()


@contextmanager
def bench(home: Path, script: Any, **settings: Any) -> Iterator[tuple[Bench, Server]]:
    """A bench over a scripted server."""
    with Server(script) as server:
        made = Bench(home, server.url, **settings)
        try:
            yield made, server
        finally:
            made.close()
