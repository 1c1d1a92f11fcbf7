"""Facts for whoever watches a turn as it happens. A log never holds them and a turn does not remember them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calling:
    """A request is about to go out."""

    model: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a reply. Its pieces since the last `Retracted` add up to the text that is stored."""

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """A piece of reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """The model is writing a tool call: its name and how many characters of arguments there are so far."""

    name: str
    characters: int


@dataclass(frozen=True, slots=True)
class Retracted:
    """The text shown of the present reply is withdrawn: the retry says something else."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing has come for ``seconds``; at ``limit`` the connection is closed. ``kind`` is ``first_byte`` (the request
    is out, no byte yet), ``stream`` (it had begun) or ``queued`` (only keep-alives come)."""

    seconds: float
    limit: float
    kind: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Seconds left of the wait that `Retrying` announced."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Asking:
    """A tool waits for a person, for ``seconds`` (0: for ever); ``default`` says what happens without an answer."""

    call_id: str
    question: str
    choices: tuple[str, ...] = ()
    seconds: float = 0
    default: str = ""


@dataclass(frozen=True, slots=True)
class Noticed:
    """One line worth showing that changes nothing: a parameter swapped, a download, a server that truncates."""

    text: str


Passing = Calling | TextDelta | ThoughtDelta | CallDelta | Retracted | Silence | Waiting | Asking | Noticed
