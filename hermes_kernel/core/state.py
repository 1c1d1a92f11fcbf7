"""What is known about one prompt and what came of it: a value, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_kernel.core.budget import IterationBudget, Limits
from hermes_kernel.core.events import Asked, Failed, Final, Kept, Outcome, Replied
from hermes_kernel.core.fill import Fill
from hermes_kernel.core.messages import Assistant, ToolCall, Transcript, Usage
from hermes_kernel.core.safe import clean, sanitise
from hermes_kernel.core.text import brief


@dataclass(frozen=True, slots=True)
class Tries:
    """What has been tried for the model call at hand, and how often."""

    waits: int = 0
    throttles: int = 0
    repairs: int = 0
    compressions: int = 0
    continuations: int = 0
    empties: int = 0
    growths: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """Everything known about one prompt and what came of it. The value of a ``%%hermes`` cell and of `Agent.ask`.

    ``transcript`` is the whole conversation; ``starts`` says where its turns begin. ``events`` are the facts of this
    one. ``route`` is the number of the model that is asked. ``reply`` is the model's last word, ``open`` the calls of
    it that have no result, ``begun`` those of them that had started. ``fault`` is what went wrong and is not made up
    for yet, ``stopped`` by whom the turn was. ``shown`` is text a person sees that is in no message yet. ``room`` is
    the output limit in tokens, 0 for the endpoint's own; ``fill`` how much of the model's window the transcript takes.
    ``calls`` are the model calls that were made, ``refunds`` how many more were given back; ``graced`` once the closing
    words were asked for. ``usage`` is this turn's, its subagents' included, ``earlier`` that of the turns before it.
    """

    limits: Limits = Limits()
    session_id: str = ""
    system: str = ""
    transcript: Transcript = ()
    starts: tuple[int, ...] = ()
    events: tuple[Kept, ...] = ()
    budget: IterationBudget = field(default_factory=lambda: IterationBudget(Limits().max_iterations))
    calls: int = 0
    usage: Usage = Usage()
    earlier: Usage = Usage()
    route: int = 0
    room: int = 0
    fill: Fill = Fill()
    reply: Replied | None = None
    open: tuple[ToolCall, ...] = ()
    begun: frozenset[str] = frozenset()
    fault: Failed | None = None
    tries: Tries = Tries()
    refunds: int = 0
    graced: bool = False
    shown: str = ""
    stopped: str = ""
    final: Final | None = None

    @property
    def asked(self) -> bool:
        """There is a prompt to answer: not so in a conversation just opened or branched off, nor after an undo."""
        return bool(self.events) and isinstance(self.events[0], Asked)

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it goes on, and where nothing was asked."""
        return self.final.outcome if self.final else None

    @property
    def text(self) -> str:
        """The answer. Never None; empty when there is none."""
        return self.final.text if self.final else said(self)

    @property
    def reason(self) -> str:
        """One line on why it ended so, or nothing."""
        return self.final.reason if self.final else ""

    @property
    def messages(self) -> Transcript:
        """The messages of this turn, the prompt first."""
        return self.transcript[self.starts[-1] :] if self.starts else ()

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Every tool call of this turn, in the order of asking."""
        return tuple(call for m in self.messages if isinstance(m, Assistant) for call in m.calls)

    @property
    def exhausted(self) -> bool:
        """No model call is left but the one for the closing words: by those this turn has made, or by what it and its
        subagents have of the budget."""
        return self.calls >= self.budget.limit or self.budget.remaining <= 0

    def __repr__(self) -> str:
        return f"<Turn {self.outcome or 'unfinished'}: {brief(clean(self.text), 60)!r}>"

    def _repr_markdown_(self) -> str:
        return sanitise(self.text)


def going_on(turn: Turn) -> bool:
    """The model's own words stand last in an unfinished turn: whatever it says now continues them."""
    last = turn.messages[-1:]
    return bool(last) and isinstance(last[0], Assistant) and not last[0].calls


def said(turn: Turn) -> str:
    """The text a person sees of the answer so far."""
    return (turn.transcript[-1].text if going_on(turn) else "") + turn.shown
