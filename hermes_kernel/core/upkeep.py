"""Kept facts about what a turn lives on: the model's window, the compressions that keep to it, the budget it shares."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.messages import Transcript, Usage
from hermes_kernel.core.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Continued:
    """The conversation was compressed and goes on in the session ``session_id``. The last fact of its session."""

    session_id: str


@dataclass(frozen=True, slots=True)
class WindowFound:
    """The model that is asked reads ``tokens`` at most: told by an error, by the server's list of models, or by the
    setting (``source``)."""

    tokens: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Compressing:
    """A summary of the older part is being made beside the turn, which goes on. ``tokens`` is how large it was."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """The transcript is now this shorter one. Sizes in tokens, estimated. ``how`` is ``summary``, ``pruned`` (old tool
    results shortened) or ``digest`` (made from the facts, no model asked or none answering); ``note`` one line on why
    it was not a summary. ``usage`` is what making it cost."""

    transcript: Transcript
    before: int
    after: int
    how: str = "digest"
    usage: Usage = Usage()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """Side work that left no other trace in the turn cost this: a summary that came too late, say. ``itemised``: each
    of its calls is on record in a session of its own."""

    usage: Usage
    what: str
    itemised: bool = False


@dataclass(frozen=True, slots=True)
class Refunded:
    """Iterations given back: the budget and the count of calls both shrink by ``calls``."""

    calls: int = 1


@dataclass(frozen=True, slots=True)
class Leased:
    """A subagent took ``calls`` of this turn's budget for ``task``, which the tool call ``call_id`` handed out.
    ``lease`` is the id of its session."""

    lease: str
    calls: int
    task: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """A subagent is done: it used ``used`` of what it had leased, ended with ``outcome`` (None: it was never asked) and
    cost ``usage``."""

    lease: str
    used: int
    outcome: Outcome | None = None
    usage: Usage = Usage()
