"""`Digester`: makes a conversation shorter from the facts alone, for work that does not last."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from hermes_kernel.core.commands import Compress
from hermes_kernel.core.compression import Keep, prune, reduced, size
from hermes_kernel.core.events import Compressed, Event, Spent
from hermes_kernel.core.fill import GAIN
from hermes_kernel.core.messages import Transcript
from hermes_kernel.world.stop import Stop

TAIL = 0.12
"""Share of the window for the last messages."""

LAST = 6
"""Messages at the end whose results are left as they are while there is room."""


class Digester:
    """Keeps `ports.Compressor` without a model. Ahead of time only old results are shortened."""

    def __init__(self) -> None:
        self._begun: Compress | None = None

    def begin(self, asked: Compress) -> None:
        self._begun = asked

    def ready(self, transcript: Transcript) -> Compressed | Spent | None:
        begun, self._begun = self._begun, None
        if begun is None:
            return None
        before, smaller = size(transcript), prune(transcript, LAST)
        return Compressed(smaller, before, size(smaller), "pruned") if size(smaller) < before * GAIN else None

    async def settle(self, stop: Stop) -> None:
        pass

    async def compress(self, asked: Compress, stop: Stop) -> AsyncGenerator[Event, None]:
        keep = Keep(tokens=int((asked.window or asked.tokens or size(asked.transcript)) * TAIL))
        smaller = reduced(asked.transcript, asked.attempt, keep)
        yield Compressed(smaller, size(asked.transcript), size(smaller))
