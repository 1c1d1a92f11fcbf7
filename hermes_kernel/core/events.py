"""The facts a turn is made of: one closed union, each a frozen value.

*Kept* facts are written to the log before anything else happens and folding them gives the turn back.
*Passing* facts are for whoever watches; a log never holds them and a turn does not remember them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Image, ToolCall, Transcript, Usage


class Outcome(StrEnum):
    """How a turn ended. `COMPLETED` only with an answer."""

    COMPLETED = "completed"
    BUDGET_EXHAUSTED = "budget_exhausted"
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    EMPTY = "empty"
    FAILED = "failed"


# --- kept -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """A session begins. ``system`` is the system prompt, frozen for the session; ``parent`` names the session it was
    branched or compressed from."""

    session_id: str
    system: str = ""
    model: str = ""
    kind: str = "chat"
    parent: str = ""
    notebook: str = ""
    transcript: Transcript = ()


@dataclass(frozen=True, slots=True)
class Titled:
    """A person or the agent named the session."""

    title: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt: a turn begins. ``route`` is the index of the model to ask first (0 the main one, then the fallbacks);
    ``budget`` is how many model calls this turn may make, 0 for the session's own limit."""

    text: str
    images: tuple[Image, ...] = ()
    route: int = 0
    budget: int = 0


@dataclass(frozen=True, slots=True)
class Replied:
    """The whole of one model call that came back. ``cut`` means a tool call in it was cut off by the output limit (or
    nothing but thoughts fitted in), so it is asked for again with more room. Seconds are of elapsed time."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    cut: bool = False
    thoughts: str = ""
    extra: str = ""
    usage: Usage = Usage(calls=1, estimated=True)
    model: str = ""
    endpoint: str = ""
    first_byte_seconds: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """The last reply was cut and no more room is to be had: it is taken as it is, its cut calls answered as such."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A model call that did not come back whole. ``partial`` is the text a person has seen of it and still sees.
    ``wait`` is the server's own hint in seconds, or None. ``message`` is one readable line with no secrets in it."""

    fault: Fault
    message: str = ""
    status: int = 0
    wait: float | None = None
    partial: str = ""
    usage: Usage = Usage()
    model: str = ""
    endpoint: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrying:
    """A wait before asking again has begun; `seconds` includes the jitter that chance added."""

    attempt: int
    of: int
    seconds: float
    fault: Fault


@dataclass(frozen=True, slots=True)
class Repaired:
    """The next request is encoded more cautiously (``level`` 1: ASCII only; 2: basic plane only)."""

    level: int


@dataclass(frozen=True, slots=True)
class FellBack:
    """From here on, `route` is asked instead."""

    route: int
    fault: Fault


@dataclass(frozen=True, slots=True)
class Started:
    """A tool has begun. If the process dies before its result, it is not run again unless it is ``repeatable``."""

    call_id: str
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """A tool's result, bounded; ``kept_at`` names the file with the full text where it was longer."""

    call_id: str
    text: str
    ok: bool = True
    seconds: float = 0.0
    kept_at: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Approved:
    """What was decided about a dangerous call, by whom (``person``, ``rule``, ``headless``) and for how long
    (``once``, ``session``, ``always``)."""

    call_id: str
    allowed: bool
    by: str
    scope: str = "once"


@dataclass(frozen=True, slots=True)
class Compressed:
    """The transcript is now this shorter one. Sizes in tokens, estimated."""

    transcript: Transcript
    before: int
    after: int
    how: str = "digest"


@dataclass(frozen=True, slots=True)
class Refunded:
    """Iterations given back: the budget and the count of calls both shrink by ``calls``."""

    calls: int = 1


@dataclass(frozen=True, slots=True)
class Leased:
    """A subagent took ``calls`` of this turn's budget."""

    lease: str
    calls: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A subagent is done and used ``used`` of what it had leased."""

    lease: str
    used: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A stop: by a ``person``, by the turn's own ``time`` limit, or because the ``kernel`` goes. ``partial`` is the text
    a person has seen of the reply that was being written."""

    by: str = "person"
    partial: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Final:
    """The turn is over. Always the last kept fact of a turn, exactly once. ``reason`` is one readable line, empty when
    there is nothing to add to the outcome."""

    outcome: Outcome
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """The last ``turns`` turns are taken out of the transcript; the log keeps them, marked."""

    turns: int = 1


Kept = (
    Opened
    | Titled
    | Asked
    | Replied
    | Accepted
    | Failed
    | Retrying
    | Repaired
    | FellBack
    | Started
    | Observed
    | Approved
    | Compressed
    | Refunded
    | Leased
    | Returned
    | Interrupted
    | Final
    | Undone
)


# --- passing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calling:
    """A request is about to go out."""

    model: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer. Pieces since the last `Retracted` add up to the text that is stored."""

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
    """Nothing has come for ``seconds``; at ``limit`` the connection is closed. ``kind`` is ``first_byte`` (the request is
    out, no byte yet), ``stream`` (it had begun) or ``queued`` (only keep-alives come)."""

    seconds: float
    limit: float
    kind: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Seconds left of the wait that `Retrying` announced."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Asking:
    """A tool waits for a person."""

    call_id: str
    question: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Noticed:
    """One line worth showing that changes nothing: a parameter swapped, a download, a server that truncates."""

    text: str


Passing = Calling | TextDelta | ThoughtDelta | CallDelta | Retracted | Silence | Waiting | Asking | Noticed
Event = Kept | Passing

KEPT: tuple[type, ...] = Kept.__args__


def is_kept(event: Event) -> TypeGuard[Kept]:
    """Whether a log holds facts of this kind."""
    return isinstance(event, KEPT)
