"""Side work: one question to a model, beside the conversation and without tools, under the rules of any turn: retries,
fallbacks, silence that is noticed, a latch that stops it. Nothing of it is kept but what the caller keeps."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.commands import Compress
from hermes_kernel.core.events import Asked, Compressed, Event, Observed, Opened, Spent
from hermes_kernel.core.messages import ToolCall, ToolSpec, Transcript
from hermes_kernel.core.turn import Turn, evolve, play, recall
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.ports import Clock, Model
from hermes_kernel.world.stop import Stop


@dataclass(frozen=True, slots=True)
class Aside:
    """A model to ask beside the conversation. ``route`` is the number of the one to begin with. A ``solitary`` one
    answers one call at a time, and the conversation's own calls, too."""

    model: Model
    clock: Clock
    limits: Limits
    route: int = 0
    solitary: bool = False

    async def ask(self, system: str, prompt: str, stop: Stop, window: int = 0) -> Turn:
        """The turn that answers `prompt`, with all it cost; `window` is what the model is believed to read."""
        turn = recall((Opened("", system), Asked(prompt, route=self.route, window=window)), Turn(self.limits))
        world = Performer(self.model, _NoTools(), _Whole(), self.clock, stop)
        async with aclosing(play(turn, world)) as told:
            async for event in told:
                turn = evolve(turn, event)
        return turn


class _NoTools:
    """Keeps `ports.Toolbox` for a question that is answered in words."""

    def specs(self) -> tuple[ToolSpec, ...]:
        return ()

    def lends(self, call: ToolCall) -> bool:
        return False

    async def run(self, calls: Sequence[ToolCall], stop: Stop) -> AsyncGenerator[Event, None]:
        for call in calls:
            yield Observed(call.id, "There are no tools here. Answer in words.", ok=False)


class _Whole:
    """Keeps `ports.Compressor` for a conversation that is never compressed."""

    def begin(self, asked: Compress) -> None:
        pass

    def ready(self, transcript: Transcript) -> Compressed | Spent | None:
        return None

    async def settle(self, stop: Stop) -> None:
        pass

    async def compress(self, asked: Compress, stop: Stop) -> AsyncGenerator[Event, None]:
        yield Compressed(asked.transcript, asked.tokens, asked.tokens)
