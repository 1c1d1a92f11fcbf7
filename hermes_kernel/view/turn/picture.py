"""What there is to see of one turn and of the subagents below it, as values; `seeing` makes them."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.events import Final, Outcome, Replied, Retrying, Silence
from hermes_kernel.core.messages import Usage
from hermes_kernel.view.turn.blocks import Layout
from hermes_kernel.view.turn.words import WORKING, Notice, Row, Status

BLANK = Layout()
MUSING = 2_000  # characters of a reply's thoughts that are seen while it is written


@dataclass(frozen=True, slots=True)
class Picture:
    """What there is to see of one turn. ``limit`` is its iteration budget, ``calls`` what it and its subagents have
    spent of it.

    ``layout`` holds the text; ``opening`` is the layout before the answer at hand, ``base`` the one before the present
    reply, to which a withdrawn reply goes back. ``thoughts`` are those of the replies that stand; ``musing`` has the
    last of the present reply's, which are ``mused`` characters in all. ``summarising`` while a summary of the older
    part is being made beside the turn; ``silence`` is how long nothing has come, while nothing comes. ``replayed``: no
    model was asked, for a recording answered.
    """

    limit: int
    layout: Layout = BLANK
    opening: Layout = BLANK
    base: Layout = BLANK
    status: Status = WORKING
    rows: tuple[Row, ...] = ()
    children: tuple[Child, ...] = ()
    thoughts: str = ""
    musing: str = ""
    mused: int = 0
    notices: tuple[Notice, ...] = ()
    aside: str = ""
    summarising: bool = False
    silence: Silence | None = None
    retry: Retrying | None = None
    cut: Replied | None = None
    calls: int = 0
    usage: Usage = Usage()
    final: Final | None = None
    replayed: bool = False

    @property
    def blocks(self) -> tuple[str, ...]:
        """Finished Markdown, never to change unless it is withdrawn."""
        return self.layout.blocks

    @property
    def tail(self) -> str:
        """Markdown still being written. ``blocks`` and ``tail`` joined are ``text``."""
        return self.layout.tail

    @property
    def text(self) -> str:
        """Everything the model has said in this turn, as far as it stands."""
        return self.layout.text

    @property
    def at_work(self) -> tuple[Child, ...]:
        """The subagents that have not come back."""
        return tuple(child for child in self.children if not child.over)

    @property
    def leased(self) -> int:
        """Calls that are out with them."""
        return sum(child.granted for child in self.at_work)

    @property
    def left(self) -> int:
        """Calls that may still be spent or leased."""
        return max(self.limit - self.calls - self.leased, 0)


@dataclass(frozen=True, slots=True)
class Child:
    """A subagent as its parent's cell shows it. ``call_id`` is the tool call it works for, ``granted`` the calls that
    it has leased, ``picture`` what it is at. Once it is ``over``, ``outcome`` is how it ended (None: nobody knows) and
    ``used`` what it spent; what it says is never a part of what its parent says."""

    lease: str
    task: str
    granted: int
    picture: Picture
    call_id: str = ""
    over: bool = False
    outcome: Outcome | None = None
    used: int = 0
