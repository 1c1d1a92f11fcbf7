"""A compressed conversation goes on in a session of its own, and the one it was stays whole in the store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from hermes_kernel.core.commands import Compress
from hermes_kernel.core.events import Compressed, Event, Noticed, Opened, Spent
from hermes_kernel.errors import HermesError
from hermes_kernel.session import Session
from hermes_kernel.world.compressing import Summariser
from hermes_kernel.world.ports import Beside
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tools

NOTHING = "Nothing is left to take back: what was said before the compression stands. `show {}` has it word for word."


@dataclass(frozen=True, slots=True)
class Lineage:
    """Keeps to it for one agent. ``new_id`` gives the ids of sessions."""

    session: Session
    compressor: Summariser
    tools: Tools
    new_id: Callable[[], str]
    beside: Beside

    def next(self) -> Opened | None:
        """Between two turns: the session in which the conversation goes on, if its older part is gone, or if a summary
        of it has become ready. None: in the same one.

        Raises:
            StoreError: the log cannot be written.
        """
        self.session.close_turn("kernel")
        while news := self.compressor.ready(self.session.turn.transcript):
            self.session.keep(news)
        self.pay()
        return self._child() if self.session.turn.fill.compressed else None

    def moved(self, opened: Opened) -> Noticed:
        """The conversation goes on in the session that `opened` began: for whoever watches."""
        self.tools.go_on_in(opened.session_id)
        return Noticed(f"The conversation was compressed; `show {opened.parent[:8]}` has the whole text of it.")

    async def compress(self, focus: str, stop: Stop) -> AsyncGenerator[Event, None]:
        """Compress now, and go on in another session where that gained something.

        Raises:
            HermesError: it was stopped.
            StoreError: the log cannot be written.
        """
        self.session.close_turn("kernel")
        turn = self.session.turn
        asked = Compress(turn.transcript, 1, turn.fill.tokens, turn.fill.window, gauge=turn.fill.gauge, focus=focus)
        async with aclosing(self.compressor.compress(asked, stop)) as told:
            async for event in told:
                if isinstance(event, Compressed) and event.after >= event.before:
                    yield replace(event, transcript=turn.transcript, after=event.before)
                    return
                if isinstance(event, Compressed | Spent):
                    self.session.keep(event)
                if isinstance(event, Compressed):
                    opened = self._child()
                    self.session.go_on_in(opened)
                    moved = self.moved(opened)  # first, for nobody need ask for what comes behind an event
                    yield event
                    yield moved
                    return
                yield event
        if stop.by:
            raise HermesError("Stopped: the conversation is as it was, and what was begun of a summary goes on.")

    def undo(self, turns: int) -> int:
        """Take back the last turns; how many there were.

        Raises:
            HermesError: there is none since the conversation was compressed.
            StoreError: the log cannot be written.
        """
        taken = self.session.undo(turns)
        self.compressor.keep_to(self.session.turn.transcript)
        if not taken and turns > 0 and (whole := self._whole_in()):
            raise HermesError(NOTHING.format(whole[:8]))
        return taken

    def open(self, opened: Opened) -> None:
        """Begin another conversation; as `Session.open`."""
        self._leave()
        self.session.open(opened)
        self.tools.begin_session(opened.session_id)

    def load(self, session: str) -> None:
        """Go on with an earlier conversation; as `Session.load`. This one is, by every name it has: what was begun of a
        summary goes on."""
        if session in self.session.earlier or self.session.followed(session)[-1] == self.session.turn.session_id:
            return
        self._leave()
        self.session.load(session)
        self.tools.begin_session(self.session.turn.session_id)

    def _whole_in(self) -> str:
        """The session that has word for word what a compression took out of this one; ``""`` where nothing was."""
        if self.session.turn.fill.compressed:
            return self.session.turn.session_id
        return self.session.opened.parent if self.session.opened.earlier.calls else ""

    def pay(self) -> None:
        """What was spent beside the conversation is in its usage.

        Raises:
            StoreError: the log cannot be written.
        """
        for spent in self.beside.owed():
            self.session.keep(spent)

    def _leave(self) -> None:
        """What was begun for this conversation is given up, and paid for in it."""
        self.beside.leave()
        self.pay()
        if spent := self.compressor.leave():
            self.session.keep(spent)

    def _child(self) -> Opened:
        turn, opened = self.session.turn, self.session.opened
        self.beside.moves(turn.session_id)
        return replace(
            opened,
            session_id=self.new_id(),
            parent=turn.session_id,
            transcript=turn.transcript,
            earlier=turn.earlier + turn.usage,
        )
