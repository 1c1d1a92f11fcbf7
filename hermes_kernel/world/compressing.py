"""Making a conversation shorter, from the facts alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from hermes_kernel.core.commands import Compress
from hermes_kernel.core.context import size, squeeze
from hermes_kernel.core.events import Compressed, Event
from hermes_kernel.core.messages import Transcript
from hermes_kernel.world.stop import Stop


class Digester:
    """Keeps `ports.Compressor` without a model."""

    def begin(self, asked: Compress) -> None:
        pass

    def ready(self, transcript: Transcript) -> Compressed | None:
        return None

    async def compress(self, asked: Compress, stop: Stop) -> AsyncGenerator[Event, None]:
        smaller = squeeze(asked.transcript, asked.attempt)
        yield Compressed(smaller, size(asked.transcript), size(smaller))
