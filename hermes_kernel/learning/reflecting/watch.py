"""What of the conversation at hand no look has seen. Counts, and knows neither store nor model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hermes_kernel.core.events import Kept
from hermes_kernel.core.learning.looking import Unseen, due, shortened
from hermes_kernel.core.learning.triggers import triggers
from hermes_kernel.core.turn import Turn
from hermes_kernel.settings import Settings

MOVED = "the conversation was compressed"
LEFT = "the conversation was left"


@dataclass(frozen=True, slots=True)
class Want:
    """A look of ``loop`` at ``session`` is due, for ``why``."""

    loop: str
    session: str
    why: str


@dataclass(slots=True)
class Watch:
    """The conversation at hand, as far as this process has seen it. Times are of `Clock.elapsed`; ``line`` are the
    sessions that it has gone through."""

    session: str = ""
    turns: int = 0
    since: float = 0.0
    active: float = 0.0
    line: set[str] = field(default_factory=set)
    _standing: int = 0  # turns in the transcript after the last one
    _asked: Kept | None = None  # which that was

    def unseen(self, now: float) -> Unseen:
        """What no look has seen at this moment."""
        return Unseen(self.turns, now - self.since, now - self.active)

    def over(self, turn: Turn, now: float, settings: Settings) -> Iterator[Want]:
        """A turn is over: which looks are due now. One that was seen already, or is not over, changes nothing."""
        if turn.final is None or turn.events[0] is self._asked:
            return
        self._asked = turn.events[0]
        if turn.session_id != self.session:
            if self.session and self.turns:
                yield Want("nudge", self.session, MOVED)
            self._begin(turn.session_id, now)
        again = 0 < len(turn.starts) <= self._standing and not shortened(turn)
        self.turns, self.active, self._standing = self.turns + 1, now, len(turn.starts)
        unseen = Unseen(self.turns, now - self.since, 0.0, shortened(turn))
        if why := due(unseen, settings.nudge_every_turns, settings.nudge_seconds):
            yield self._nudge(now, why)
        if trigger := triggers(turn, settings.skill_trigger_calls, again=again):
            yield Want("review", self.session, trigger.why)

    def idle(self, now: float, settings: Settings) -> Iterator[Want]:
        """Time has passed: the look that is due because nothing was asked, if one is."""
        unseen, seconds = self.unseen(now), settings.nudge_seconds
        if unseen.idle >= seconds and (why := due(unseen, settings.nudge_every_turns, seconds)):
            yield self._nudge(now, why)

    def moves(self, session: str) -> Iterator[Want]:
        """The conversation goes on in another session than `session`: nothing more will be said in this one. Of what
        another process heard in it, only its log tells whether a look has seen it."""
        if self.turns or session != self.session:
            yield Want("nudge", session, MOVED)
        self.turns = 0
        self.line.add(session)

    def left(self, settings: Settings) -> Iterator[Want]:
        """Nothing more will be asked here for now: what was not looked at is due for whoever comes later."""
        if self.turns and settings.nudge_every_turns and settings.nudge_seconds:
            yield Want("nudge", self.session, LEFT)
        self.session, self.turns, self._standing = "", 0, 0
        self.line.clear()

    def looked(self, now: float) -> None:
        """A look has seen all of it."""
        self.turns, self.since = 0, now

    def _begin(self, session: str, now: float) -> None:
        self.session, self.turns, self.since, self._standing = session, 0, now, 0
        self.line.add(session)

    def _nudge(self, now: float, why: str) -> Want:
        self.looked(now)
        return Want("nudge", self.session, why)
