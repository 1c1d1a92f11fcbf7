"""`Digester`: makes a conversation shorter from the facts alone, for work that does not last."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from hermes_kernel.core.commands import Compress
from hermes_kernel.core.compression import Keep, reduced, size
from hermes_kernel.core.events import Compressed, Event, Spent
from hermes_kernel.core.messages import Transcript
from hermes_kernel.world.stop import Stop

TAIL = 0.12
"""Share of the window for the last messages."""


class Digester:
    """Keeps `ports.Compressor` without a model. Nothing is begun ahead, for it takes no time."""

    def begin(self, asked: Compress) -> None:
        pass

    def ready(self, transcript: Transcript) -> Compressed | Spent | None:
        return None

    async def compress(self, asked: Compress, stop: Stop) -> AsyncGenerator[Event, None]:
        keep = Keep(tokens=int((asked.window or asked.tokens or size(asked.transcript)) * TAIL))
        smaller = reduced(asked.transcript, asked.attempt, keep)
        yield Compressed(smaller, size(asked.transcript), size(smaller))
