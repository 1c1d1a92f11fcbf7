"""The facts a turn is made of: one closed union, each a frozen value.

*Kept* facts are written to the log before anything else happens and folding them gives the turn back.
*Passing* facts, from `passing`, are for whoever watches. Those about windows, compressions and shared budgets are from
`upkeep`, those about memory, skills and the slow loops from `learnt`, those about jobs from `planned`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.learnt import Lesson, LookDue, Looked, Remembered, SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.core.messages import Image, ToolCall, Transcript, Usage
from hermes_kernel.core.outcome import Outcome
from hermes_kernel.core.passing import (
    Asking,
    CallDelta,
    Calling,
    Noticed,
    Passing,
    Retracted,
    Silence,
    TextDelta,
    ThoughtDelta,
    Waiting,
)
from hermes_kernel.core.planned import (
    JobRemoved,
    JobSet,
    RunBegan,
    RunEnded,
    RunWanted,
    Settled,
    Skipped,
    StopWanted,
    Told,
)
from hermes_kernel.core.upkeep import (
    Compressed,
    Compressing,
    Continued,
    Leased,
    Refunded,
    Returned,
    Spent,
    WindowFound,
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A session begins. ``system`` is the system prompt, frozen for the session; ``parent`` names the session it was
    branched or compressed from, or whose subagent it is (``kind`` says which: ``chat``, ``subagent``, ``map``,
    ``run``, ``nudge``, ``review``, ``curator``, ``learning``, ``schedule``).
    ``earlier`` is what the conversation had cost before, where it goes on in this session."""

    session_id: str
    system: str = ""
    model: str = ""
    kind: str = "chat"
    parent: str = ""
    notebook: str = ""
    transcript: Transcript = ()
    earlier: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Titled:
    """A person or the agent named the session; ``again``: it goes on from one that is called so."""

    title: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt: a turn begins. ``route`` is the index of the model to ask first (0 the main one, then the fallbacks);
    ``budget`` is how many model calls this turn may make, 0 for the session's own limit; ``window`` the tokens that the
    model reads at most, 0 where that is not known. ``note`` is what the model is told besides, before the person's own
    words: what has changed since the session's system prompt. ``whom`` is that model with its endpoint, where somebody
    says so."""

    text: str
    images: tuple[Image, ...] = ()
    route: int = 0
    budget: int = 0
    window: int = 0
    note: str = ""
    whom: str = ""

    @property
    def said(self) -> str:
        """All that the model reads."""
        return f"{self.note}\n\n{self.text}" if self.note else self.text


@dataclass(frozen=True, slots=True)
class Replied:
    """The whole of one model call that came back. ``cut`` means a tool call in it was cut off by the output limit (or
    nothing but thoughts fitted in), so it is asked for again with more room. Seconds are of elapsed time.
    ``silences`` are those of some seconds within the answer, the longest of them in order of time: when each
    began, in seconds since the call did, and how long it was."""

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
    silences: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """The last reply was cut and no more room is to be had: it is taken as it is, its cut calls answered as such."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A model call that did not come back whole. ``partial`` is the text a person has seen of it and still sees.
    ``wait`` is the server's own hint in seconds, or None. ``message`` is one readable line with no secrets in it.
    ``asked`` and ``window`` are the tokens of an overflow, 0 where the server did not tell them; ``silences`` as in
    `Replied`."""

    fault: Fault
    message: str = ""
    status: int = 0
    wait: float | None = None
    partial: str = ""
    usage: Usage = Usage()
    model: str = ""
    endpoint: str = ""
    seconds: float = 0.0
    asked: int = 0
    window: int = 0
    silences: tuple[tuple[float, float], ...] = ()


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
    """What was decided about a dangerous call, by whom (``person``, ``rule``, ``headless``; ``silence``: nobody
    answered in time) and for how long (``once``, ``session``, ``always``)."""

    call_id: str
    allowed: bool
    by: str
    scope: str = "once"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A stop: by a ``person``, by the turn's own ``time`` limit, or because the ``kernel`` goes. ``partial`` is the
    text a person has seen of the reply that was being written."""

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


@dataclass(frozen=True, slots=True)
class Subagent:
    """Passing: what happens in a subagent, told to whoever watches its parent."""

    lease: str
    event: Event


Kept = (
    Opened
    | Continued
    | Titled
    | Asked
    | WindowFound
    | Replied
    | Accepted
    | Failed
    | Retrying
    | Repaired
    | FellBack
    | Started
    | Observed
    | Approved
    | Compressing
    | Compressed
    | Spent
    | Refunded
    | Leased
    | Returned
    | Interrupted
    | Final
    | Undone
    | Remembered
    | SkillChanged
    | SkillMarked
    | SkillUsed
    | LookDue
    | Looked
    | JobSet
    | JobRemoved
    | RunWanted
    | StopWanted
    | RunBegan
    | RunEnded
    | Skipped
    | Told
    | Settled
)


Event = Kept | Passing | Subagent

KEPT: tuple[type, ...] = Kept.__args__


def is_kept(event: Event) -> TypeGuard[Kept]:
    """Whether a log holds facts of this kind."""
    return isinstance(event, KEPT)


__all__ = [
    "KEPT", "Accepted", "Approved", "Asked", "Asking", "CallDelta", "Calling", "Compressed", "Compressing",
    "Continued", "Event", "Failed", "FellBack", "Final", "Interrupted", "JobRemoved", "JobSet", "Kept", "Leased",
    "Lesson", "LookDue", "Looked", "Noticed", "Observed", "Opened", "Outcome", "Passing", "Refunded", "Remembered",
    "Repaired", "Replied", "Retracted", "Retrying", "Returned", "RunBegan", "RunEnded", "RunWanted", "Settled",
    "Silence", "SkillChanged", "SkillMarked", "SkillUsed", "Skipped", "Spent", "Started", "StopWanted", "Subagent",
    "TextDelta", "ThoughtDelta", "Titled", "Told", "Undone", "Waiting", "WindowFound", "is_kept",
]  # fmt: skip
