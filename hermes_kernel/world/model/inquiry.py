"""One call as it is being made: what is asked of whom since when, and how its failures are put into words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hermes_kernel.core.classify import classify
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Failed, Interrupted, Noticed, Replied
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.hints import wait_hint
from hermes_kernel.core.messages import ToolSpec, Usage
from hermes_kernel.core.trouble import Trouble, one_line
from hermes_kernel.world.model.exchange import Exchange
from hermes_kernel.world.model.lane import Lane
from hermes_kernel.world.model.quirks import NOTHING_SENT, USUAL, Quirks, Sent
from hermes_kernel.world.model.reading import Reading
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop

_LARGE_TOKENS = 120_000
"""A request of so many tokens that gets no answer but a closed connection was too long, where the window is unknown."""
_LARGE_SHARE = 0.6


@dataclass(slots=True)
class Inquiry:
    """``body``, ``sent``, ``written``, ``end`` and ``lesson`` are of the latest request for the call: what went out and
    how it was written, how it ended, and what was learnt that makes another request worth while."""

    call: CallModel
    tools: tuple[ToolSpec, ...]
    stop: Stop
    lane: Lane
    clock: Clock
    body: bytes = b""
    sent: Sent = NOTHING_SENT
    written: Quirks = USUAL
    end: Replied | Failed | Interrupted | None = None
    lesson: Noticed | None = None
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock.elapsed()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return self.clock.elapsed() - self.started

    @property
    def input_tokens(self) -> int:
        """An estimate of what was sent."""
        return self.lane.audit.tokens(self.sent.counts, self.sent.tools) if self.body else 0

    def replied(self, reply: Replied, reading: Reading, exchange: Exchange) -> Replied:
        """`reply` with who gave it, how long that took, where it was silent, and what it cost at least by a guess."""
        return replace(
            reply,
            usage=self.guess(reading) if reply.usage.estimated else reply.usage,
            model=self.lane.wanted.model,
            endpoint=self.lane.wanted.endpoint,
            first_byte_seconds=exchange.first_byte,
            seconds=self.seconds,
            silences=self.silences(exchange),
        )

    def silences(self, exchange: Exchange) -> tuple[tuple[float, float], ...]:
        """Those within its answer, by the time since this call began: requests may have gone before."""
        return exchange.lulls.since(exchange.started - self.started)

    def guess(self, reading: Reading) -> Usage:
        """The usage of a reply that nobody counted."""
        return Usage(1, self.input_tokens, reading.output_tokens, estimated=True)

    def told(self, trouble: Trouble, exchange: Exchange) -> Trouble:
        """`trouble` with what only this end knows: the server's hint, and whether the request was very large for the
        window of the model."""
        headers = exchange.headers if exchange.status != 200 else {}
        window = self.lane.reach.tokens
        limit = window * _LARGE_SHARE if window else _LARGE_TOKENS
        return replace(
            trouble,
            wait=wait_hint(headers, trouble.words, self.clock.now()),
            large=not exchange.begun and self.input_tokens > limit,
        )

    def throttled(self, wait: float) -> Failed:
        """No request was made: the next one is let through in `wait` seconds."""
        words = f"the request limit of this endpoint is used up for {wait:.1f} s"
        return replace(self.failed(Trouble(message=words, wait=wait)), fault=Fault.PROACTIVE_RATE_LIMIT)

    def failed(self, trouble: Trouble, partial: str | None = None, usage: Usage | None = None) -> Failed:
        """The event for `trouble`. ``partial`` None: a person still sees what was shown before."""
        route = self.lane.wanted
        keys = (route.api_key, self.lane.route.api_key if self.lane.route else "")
        fault = classify(trouble)
        full = fault is Fault.CONTEXT_OVERFLOW
        return Failed(
            fault=fault,
            message=one_line(trouble.message + self.lane.advice(trouble.status), keys),
            status=trouble.status,
            wait=trouble.wait,
            partial=self.call.shown if partial is None else partial,
            usage=usage or Usage(),
            model=route.model,
            endpoint=route.endpoint,
            seconds=self.seconds,
            asked=trouble.asked if full else 0,
            window=trouble.window if full else 0,
        )
