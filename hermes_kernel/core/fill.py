"""How much of the model's window a conversation fills: kept up message by message, never counted from the start."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.gauge import Counts, Gauge, weighed
from hermes_kernel.core.messages import Message, Transcript, Usage

GAIN = 0.9
"""What leaves more than this share of what was has gained next to nothing."""

REST = 0.25
"""Share of the window that is used up after a compression before the next summary is begun."""

AGAIN = 1.1
"""By how much a conversation has grown since a summary was begun when the next is, should that have come to nothing."""


@dataclass(frozen=True, slots=True)
class Fill:
    """``window`` is how many tokens the model reads, 0 while that is not known; ``counts`` what the transcript is made
    of; ``gauges`` what each model was seen to make of text, ``model`` the one that spoke last. ``compressing`` is how
    many tokens there were when a summary was last begun beside the turn, 0 since it was used; ``compressed`` once the
    conversation has lost its older part; ``rested`` the tokens it had right after that, without what came while the
    summary was being made; ``fruitless`` counts compressions in a row that gained next to nothing."""

    window: int = 0
    counts: Counts = Counts()
    gauges: tuple[tuple[str, Gauge], ...] = ()
    model: str = ""
    compressing: int = 0
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
        full = max(limits.compress_at * self.window, self.rested + REST * self.window, self.compressing * AGAIN)
        return self.window > 0 and self.tokens >= full

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

    def begun(self) -> Fill:
        """A summary of this transcript has been begun."""
        return replace(self, compressing=max(self.tokens, 1))

    def shorter(self, transcript: Transcript, before: int, after: int) -> Fill:
        """After a compression to `transcript`, from `before` tokens to `after`."""
        fruitless = self.fruitless + 1 if after > before * GAIN else 0
        came = max(self.tokens - self.compressing, 0) if self.compressing else 0
        small = self.of(transcript)
        rested = max(small.tokens - came, 0)
        return replace(small, compressing=0, compressed=True, rested=rested, fruitless=fruitless)

    def told(self, model: str, usage: Usage) -> Fill:
        """`model` has counted the input of a call with this transcript, if `usage` is not a guess. One that read more
        than its window has another window."""
        if usage.estimated or not usage.input_tokens:
            return replace(self, model=model)
        window = 0 if usage.input_tokens > self.window else self.window
        return replace(self.learned(model, usage.input_tokens), window=window)

    def learned(self, model: str, tokens: int) -> Fill:
        """`model` counted `tokens` for a call with this transcript."""
        known = dict(self.gauges)
        known[model] = known.get(model, Gauge()).learned(self.counts, tokens)
        return replace(self, model=model, gauges=tuple(known.items()))

    def overflowed(self, window: int) -> Fill:
        """A call with this transcript was too long for the model, which reads `window`; 0 where it did not say: then
        less than there was."""
        most = min(self.window or self.tokens, self.tokens)
        return replace(self, window=window or most)
