"""How much of the model's window a conversation fills: kept up message by message, never counted from the start."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.gauge import Counts, Gauge, weighed
from hermes_kernel.core.messages import Message, Transcript, Usage

GAIN = 0.9
"""A compression that leaves more than this share of what was has gained next to nothing."""

REST = 0.25
"""Share of the window that is used up after a compression before the next summary is begun."""


@dataclass(frozen=True, slots=True)
class Fill:
    """``window`` is how many tokens the model reads, 0 while that is not known; ``counts`` what the transcript is made
    of; ``gauges`` what each model was seen to make of text, ``model`` the one that spoke last. ``compressing`` while a
    summary is being made beside the turn; ``compressed`` once the conversation has lost its older part, to ``rested``
    tokens the last time; ``fruitless`` counts compressions in a row that gained next to nothing."""

    window: int = 0
    counts: Counts = Counts()
    gauges: tuple[tuple[str, Gauge], ...] = ()
    model: str = ""
    compressing: bool = False
    compressed: bool = False
    rested: int = 0
    fruitless: int = 0

    @property
    def gauge(self) -> Gauge:
        """What is known of how the present model counts."""
        return dict(self.gauges).get(self.model, Gauge())

    @property
    def tokens(self) -> int:
        """The input of a model call with this transcript, estimated."""
        return self.gauge.tokens(self.counts)

    def filling(self, limits: Limits) -> bool:
        """A summary of the older part should be begun."""
        full = max(limits.compress_at * self.window, self.rested + REST * self.window)
        return self.window > 0 and not self.compressing and self.tokens >= full

    def crowded(self, limits: Limits, output: int) -> bool:
        """The next call, with `output` tokens to be left for its reply, should not be made before a compression."""
        most = min(limits.compress_hard_at * self.window, max(self.window - output, self.window / 2))
        return self.window > 0 and self.fruitless < limits.fruitless and self.tokens >= most

    def added(self, *messages: Message) -> Fill:
        """With `messages` in the transcript."""
        return replace(self, counts=self.counts + weighed(*messages))

    def replaced(self, old: Message, new: Message) -> Fill:
        """With `new` in the place of `old`."""
        return replace(self, counts=self.counts - weighed(old) + weighed(new))

    def of(self, transcript: Transcript) -> Fill:
        """The same model, another transcript."""
        return replace(self, counts=weighed(*transcript))

    def shorter(self, transcript: Transcript, before: int, after: int) -> Fill:
        """After a compression to `transcript`, from `before` tokens to `after`."""
        fruitless = self.fruitless + 1 if after > before * GAIN else 0
        small = self.of(transcript)
        return replace(small, compressing=False, compressed=True, rested=small.tokens, fruitless=fruitless)

    def told(self, model: str, usage: Usage) -> Fill:
        """`model` has counted the input of a call with this transcript, if `usage` is not a guess."""
        if usage.estimated or not usage.input_tokens:
            return replace(self, model=model)
        return self.learned(model, usage.input_tokens)

    def learned(self, model: str, tokens: int) -> Fill:
        """`model` counted `tokens` for a call with this transcript."""
        known = dict(self.gauges)
        known[model] = known.get(model, Gauge()).learned(self.counts, tokens)
        return replace(self, model=model, gauges=tuple(known.items()))
