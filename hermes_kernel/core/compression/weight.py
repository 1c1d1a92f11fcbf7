"""What a transcript weighs, in estimated tokens. A caller who knows its model better brings its own scale.

A scale weighs the given messages alone: system prompt, tools and what a server last told are no part of it.
"""

from __future__ import annotations

from collections.abc import Callable

from hermes_kernel.core.gauge import Gauge, counts, weighed
from hermes_kernel.core.messages import Transcript

Weigh = Callable[[Transcript], int]

_PLAIN = Gauge()


def size(transcript: Transcript) -> int:
    """Estimated tokens of a transcript, for a model of which nothing is known."""
    return _PLAIN.tokens(weighed(*transcript))


def tokens(text: str) -> int:
    """Estimated tokens of a text, likewise."""
    return _PLAIN.tokens(counts(text))
