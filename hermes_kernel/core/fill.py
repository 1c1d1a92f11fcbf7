"""How much of the model's window a conversation fills: kept up message by message, never counted from the start."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.gauge import Counts, Gauge, weighed
from hermes_kernel.core.messages import Message, Transcript, Usage

GAIN = 0.9
"""What leaves more than this share of what was has gained next to nothing."""

REST = 0.25
"""Share of the window that is used up before the next summary is begun: after a compression, and after one was begun
that came to nothing."""


@dataclass(frozen=True, slots=True)
class Fill:
    """``window`` is how many tokens the model reads, 0 while that is not known; ``guessed`` when nobody said so of the
    present one: it overflowed, or another had such a window. ``whose`` it is, where that was said. ``counts`` is what
    the transcript is made of; ``gauges`` what each model was seen to make of text, ``model`` the one that spoke last.
    ``compressing`` is how many tokens there were when a summary was last begun beside the turn, 0 since it was used;
    ``compressed`` once the conversation has lost its older part; ``rested`` the tokens it had right after that, without
    what came while the summary was being made; ``fruitless`` counts compressions in a row that gained next to
    nothing."""

    window: int = 0
    guessed: bool = False
    whose: str = ""
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
        begun = self.compressing + REST * self.window if self.compressing else 0
        return self.rest_is_over and self.tokens >= max(limits.compress_at * self.window, begun)

    @property
    def rest_is_over(self) -> bool:
        """Enough has come since the last compression for another summary."""
        return self.window > 0 and self.tokens >= self.rested + REST * self.window

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
        than a window that was a guess has another; one that says it read more than its own counts something else."""
        over = usage.input_tokens > self.window > 0
        if usage.estimated or not usage.input_tokens or (over and not self.guessed):
            return replace(self, model=model)
        learned = self.learned(model, usage.input_tokens)
        return replace(learned, window=0) if over else learned

    def found(self, window: int) -> Fill:
        """The present model reads `window`, 0 where nobody says what it reads: then what was known is a guess."""
        return replace(self, window=window or self.window, guessed=not window)

    def asking(self, whom: str, window: int) -> Fill:
        """A turn asks `whom`, who reads `window`, 0 where that is not known: then not what another one reads."""
        known = self if whom == self.whose else replace(self, window=0, whose=whom)
        return known.found(window)

    def fell_back(self) -> Fill:
        """Another is asked for the rest of the turn. That it reads as much is a guess, and not one for later turns."""
        return replace(self.found(0), whose="")

    def learned(self, model: str, tokens: int) -> Fill:
        """`model` counted `tokens` for a call with this transcript."""
        known = dict(self.gauges)
        known[model] = known.get(model, Gauge()).learned(self.counts, tokens)
        return replace(self, model=model, gauges=tuple(known.items()))

    def overflowed(self, window: int) -> Fill:
        """A call with this transcript was too long for the model, which reads `window`; 0 where it did not say: then
        less than there was."""
        most = min(self.window or self.tokens, self.tokens)
        return replace(self, window=window or most, guessed=not window)
