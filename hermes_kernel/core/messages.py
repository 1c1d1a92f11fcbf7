"""The transcript as values: who said what, which tools were asked for, what came back.

Knows no wire format and no store. Every text in here is free of lone surrogates (see `text.scrub`).
"""

from __future__ import annotations

from dataclasses import dataclass

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The kinds of picture that models take and every notebook shows."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as a provider takes it: a MIME type such as ``image/png`` and base64 text."""

    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool the model asked for.

    ``arguments`` is a JSON object as text, or the model's own words when ``flaw`` says why they cannot be used
    (cut off, not JSON): a flawed call is answered, never run, and goes back to a provider as ``{}``.
    ``extra`` is a JSON object of fields the provider put on the call and wants back verbatim, such as Gemini's
    thought signature; ``""`` when there are none.
    """

    id: str
    name: str
    arguments: str
    flaw: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """What a person (or the turn on its behalf) said. A ``summary`` stands for the messages that a compression took
    out before it."""

    text: str
    images: tuple[Image, ...] = ()
    summary: bool = False


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said. ``thoughts`` are for people; ``extra`` is the provider's own reasoning fields as a JSON
    object (``reasoning_content``, ``reasoning_details``…), sent back only to providers that ask for them."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    thoughts: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What came back from one tool call. There is exactly one for each call of the `Assistant` message before it."""

    call_id: str
    name: str
    text: str
    ok: bool = True
    images: tuple[Image, ...] = ()


Message = User | Assistant | Observation
Transcript = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is shown it. ``parameters`` is a JSON Schema object as text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. ``estimated`` when any part was not told by the server. ``cost`` in US
    dollars, only where a server states it."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cost + other.cost,
            self.estimated or other.estimated,
        )
