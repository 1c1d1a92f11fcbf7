"""How large what may be, for one window: what stays word for word, the summary, and what is put before a summariser.

After a compression head, summary and tail take about a quarter of the window, so the next one is far off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hermes_kernel.core.commands import Compress
from hermes_kernel.core.compression import SYSTEM, Keep, Plan, allowance, planned, prune, reduced, size
from hermes_kernel.core.gauge import weighed
from hermes_kernel.core.messages import Transcript, User
from hermes_kernel.settings import Settings

TAIL, SUMMARY = 0.12, 0.07
"""Shares for the last messages and for the summary; the first messages have half of the tail's. They are shares of what
the window has left beside system prompt and tools."""

LEAST_LEFT = 0.25
"""Share of the window that is taken to be left at least: what stands beside the transcript is an estimate too."""

UNKNOWN = 64_000
"""Tokens of the window that sizes are taken from where nothing is known and a person asks for a compression."""

LEAST_SUMMARY, MOST_SUMMARY = 150, 4_000
WORDS = 0.6
"""Words a token: what a summary may have in words, so that it stays within its tokens in most languages."""

WELL_UNDER = 0.6
"""Share of the threshold to which pruning alone must come, or a summary is made."""

SURE = 0.8
"""Share of a summariser's window that is used: its tokens are estimated, with another's gauge."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The sizes for one compression. ``window`` is the model's or, where that is not known, what overflowed it."""

    asked: Compress
    window: int
    keep: Keep
    most: int
    at: float

    def weigh(self, transcript: Transcript) -> int:
        """Tokens of these messages alone, as the model counts."""
        return math.ceil(self.asked.gauge.weight(weighed(*transcript)))

    def plan(self) -> Plan | None:
        """What a summary may stand for; None where that is not worth one."""
        return planned(self.asked.transcript, self.keep, self.weigh)

    def pruned(self, plan: Plan | None) -> Transcript | None:
        """The conversation with results shortened that are older than the last messages, where that is enough."""
        if plan is None:
            return None
        before = self.asked.transcript
        smaller = prune(before, len(before) - plan.tail)
        left = self.asked.tokens - self.weigh(before) + self.weigh(smaller)
        return smaller if smaller != before and left <= WELL_UNDER * self.at * self.window else None

    def reduced(self) -> Transcript:
        """The conversation made smaller without a model, the more so the more attempts there were."""
        return reduced(self.asked.transcript, max(self.asked.attempt, 2), self.keep, self.weigh)

    def words(self, taken: Transcript) -> int:
        """How many words a summary of `taken` may have."""
        return _coarse(min(allowance(self.weigh(taken)), int(self.most * WORDS)))

    def room(self, window: int) -> int:
        """Tokens of the conversation that a summariser which reads `window` is given at once, beside what it is told,
        the record so far and the new one."""
        return int(window * SURE) - size((User(SYSTEM),)) - 3 * self.most - 100


def measured(asked: Compress, settings: Settings) -> Measures:
    """The sizes for what is `asked`."""
    window = asked.window or (_coarse(asked.tokens) if asked.focus is None else 0) or UNKNOWN
    beside = asked.tokens - asked.gauge.weight(weighed(*asked.transcript))
    left = max(window - max(beside, 0), window * LEAST_LEFT)
    keep = Keep(settings.protect_first, settings.protect_last, int(left * TAIL))
    most = min(max(_coarse(int(left * SUMMARY)), LEAST_SUMMARY), MOST_SUMMARY)
    return Measures(asked, window, keep, most, settings.compress_at)


def _coarse(size: int) -> int:
    """About so many, and no more: what a summariser is asked depends on it, and a path in the conversation that is
    longer elsewhere is not to make that another question, of which a recording knows nothing."""
    step = 1 << max(size.bit_length() - 3, 0)
    return size // step * step
