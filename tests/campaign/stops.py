"""How and when a turn is stopped: before which event, by whom, from where."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from hermes_kernel import Agent
from hermes_kernel.core.events import Event, Subagent

WAYS = ("after some events", "at a kind of event", "from a thread", "twice", "left", "by the kernel")
KINDS = (
    "Asked", "Calling", "TextDelta", "ThoughtDelta", "CallDelta", "Retracted", "Silence", "Retrying", "Waiting",
    "Replied", "Failed", "FellBack", "Started", "Observed", "Asking", "Approved", "Noticed", "Compressing", "Compressed",
    "Leased", "Subagent", "Returned", "Repaired", "WindowFound",
)  # fmt: skip


@dataclass(slots=True)
class Stopping:
    """One way of stopping a turn, or none. ``pressed`` is after how many events it happened, ``at`` the last of them."""

    way: str = ""
    count: int = 0
    kind: str = ""
    seconds: float = 0.0
    pressed: int | None = None
    at: str = ""
    since: float = 0.0
    left: bool = False
    events: list[Event] = field(default_factory=list)

    @classmethod
    def by(cls, dice: random.Random, share: float) -> Stopping:
        """With that chance one of the ways."""
        if dice.random() >= share:
            return cls()
        return cls(dice.choice(WAYS), dice.randrange(14), dice.choice(KINDS), dice.choice([0, 0.0005, 0.003, 0.02]))

    async def play(self, agent: Agent, events: AsyncGenerator[Event, None]) -> None:
        """Take the events of a turn, and stop it when it is time."""
        timer = threading.Timer(self.seconds, self._press_apart, (agent,)) if self.way == "from a thread" else None
        if timer is not None:
            timer.start()
        try:
            async with aclosing(events):
                async for event in events:
                    self.events.append(event)
                    if self._is_time(event):
                        if self.way == "left":
                            self.left, self.at = True, _name(event)
                            return
                        self._press(agent, event)
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()

    @property
    def closing(self) -> float:
        """Seconds since it was stopped."""
        return time.monotonic() - self.since if self.since else 0.0

    def _is_time(self, event: Event) -> bool:
        if self.since or not self.way or self.way == "from a thread":
            return False
        if self.way in ("at a kind of event", "by the kernel", "left") and self.kind:
            return _name(event) == self.kind
        return len(self.events) > self.count

    def _press(self, agent: Agent, event: Event) -> None:
        self.pressed, self.at, self.since = len(self.events), _name(event), time.monotonic()
        agent.stop("kernel" if self.way == "by the kernel" else "person")
        if self.way == "twice":
            agent.stop("time")

    def _press_apart(self, agent: Agent) -> None:
        if agent.busy:
            agent.stop()
            self.at = _name(self.events[-1]) if self.events else "the beginning"


def _name(event: Event) -> str:
    return "Subagent" if isinstance(event, Subagent) else type(event).__name__
