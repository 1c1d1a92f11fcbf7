"""A subagent's stream for those who watch its parent: every event, but of what it writes no more than ten a second."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

from hermes_kernel.core.events import CallDelta, Event, TextDelta, ThoughtDelta

GAP = 0.1  # seconds


async def calmed(events: AsyncGenerator[Event, None], elapsed: Callable[[], float]) -> AsyncGenerator[Event, None]:
    """`events` with the pieces of text, of thought and of a call that come within `GAP` told as one of each."""
    held: list[Event] = []
    told = float("-inf")
    async with aclosing(events):
        async for event in events:
            piece = isinstance(event, TextDelta | ThoughtDelta | CallDelta)
            if piece:
                held.append(event)
                if elapsed() - told < GAP:
                    continue
            for whole in _joined(held):
                yield whole
            held.clear()
            told = elapsed()
            if not piece:
                yield event


def _joined(held: list[Event]) -> Iterator[Event]:
    thought = "".join(event.text for event in held if isinstance(event, ThoughtDelta))
    text = "".join(event.text for event in held if isinstance(event, TextDelta))
    if thought:
        yield ThoughtDelta(thought)
    if text:
        yield TextDelta(text)
    yield from [event for event in held if isinstance(event, CallDelta)][-1:]
