"""What a server counts against what it was sent: where it counts far less, it cuts long prompts without a word.

Knows what else makes a count low: pictures, scripts that cost a model little, tokens from a cache that are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hermes_kernel.core.gauge import Counts, Gauge
from hermes_kernel.core.messages import Usage

_UNTAUGHT, _TAUGHT = 0.45, 0.7
"""Share of the estimate below which a count is too low: before, and after the server has counted anything else."""
_LEAST = 1000
"""Tokens; no server has a smaller window than that to cut to."""
_NEW_ONLY = (0.4, 1.5)
"""A count within these shares of what is new since the last call leaves out what was cached."""
_SLACK = 300
_PLATEAU = 0.1
"""How much more has to be sent, as a share of the count before, until a count must be higher."""
_SAME, _ROUND = 0.02, 0.01
"""How close two counts are that are one limit, and how close one is to a power of two that is the limit."""


_PRIOR = Gauge()


@dataclass(frozen=True, slots=True)
class Cut:
    """A prompt that was cut: the server ``counted`` so many tokens where about ``expected`` were sent. ``window`` is
    what it seems to read at most, 0 where that cannot be told yet."""

    counted: int
    expected: int
    window: int = 0


class Audit:
    """The counts of one route, call by call. ``near`` is a server of one's own, where a low count has one reason."""

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self._gauge = Gauge()
        self._tools = Counts()
        self._last: Counts | None = None
        self._top, self._filled = 0, Counts()
        self._low = 0

    def tokens(self, sent: Counts, tools: Counts) -> int:
        """The estimated input of a request with so much in it."""
        return self._gauge.tokens(sent) + (0 if self._gauge.told else round(self._gauge.weight(tools)))

    def take(self, sent: Counts, tools: Counts, usage: Usage) -> Cut | None:
        """Learn from a count, or say what is wrong with it. Tools need not be in it: not every model is shown them."""
        counted, last = usage.input_tokens, self._last
        if usage.estimated or not counted:
            return None
        self._last = sent
        if tools != self._tools:
            self._tools, self._gauge, self._top = tools, Gauge(self._gauge.rates), 0
        missing = self._missing(sent, counted)
        expected = max(self._gauge.tokens(sent), counted + missing)
        share = _TAUGHT if self._gauge.told else _UNTAUGHT
        pictures = self._gauge.weight(Counts(images=sent.images))
        if not missing and counted >= share * (expected - pictures):
            self._gauge, self._low = self._gauge.learned(sent, counted), 0
            return None
        again, self._low = abs(counted - self._low) <= _SAME * counted, counted
        limit = _power(counted)
        cached = last is not None and self._is_new_only(counted, sent - last) and not (again and limit)
        if counted < _LEAST or cached or not (limit or again or self._near):
            return None
        return Cut(counted, expected, limit or (counted if again else 0))

    def _missing(self, sent: Counts, counted: int) -> int:
        """Tokens that were sent since counts ceased to rise, at the least; 0 while they are too few to tell."""
        more = round(_PRIOR.weight(replace(sent - self._filled, images=0)) * _UNTAUGHT)
        fewer = _PRIOR.weight(replace(self._filled - sent, images=0))
        if fewer > _SAME * self._top or not _TAUGHT * self._top <= counted <= (1 + _ROUND) * self._top:
            self._top, self._filled = counted, sent
            return 0
        return more if more > self._top * _PLATEAU + _SLACK else 0

    def _is_new_only(self, counted: int, new: Counts) -> bool:
        fresh, (least, most) = self._gauge.weight(replace(new, images=0)), _NEW_ONLY
        return least * fresh <= counted <= most * fresh + _SLACK


def _power(counted: int) -> int:
    """The power of two that `counted` fills to the last percent, or 0."""
    power = 1 << (counted - 1).bit_length()
    return power if counted >= power * (1 - _ROUND) else 0
