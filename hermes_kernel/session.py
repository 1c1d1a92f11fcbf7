"""A conversation that lasts: `play` with a log under it. Knows nothing of models, tools or faces.

A fact is on disk before anyone sees it and before the next thing happens. A turn that is cut off is closed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, aclosing, contextmanager, suppress
from dataclasses import replace

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import (
    Asked,
    Continued,
    Event,
    Interrupted,
    Kept,
    Noticed,
    Observed,
    Opened,
    Returned,
    Titled,
    Undone,
    is_kept,
)
from hermes_kernel.core.messages import Transcript
from hermes_kernel.core.turn import Turn, World, closing, continued_in, evolve, play, recall
from hermes_kernel.errors import HermesError
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.logs import line, standing, title

ENDINGS = (Interrupted, Returned)  # written with what comes next: nothing waits on them, and a whole tree ends at once


class Session:
    """One conversation at a time and its log. ``turn`` is the fold of everything in it."""

    def __init__(self, log: Archive, limits: Limits) -> None:
        self.turn = Turn(limits)
        self._log = log
        self._claim = ExitStack()
        self._unsaved: list[Kept] = []
        self._opened = Opened("")
        self._title = ""
        self._earlier: tuple[str, ...] = ()

    @property
    def opened(self) -> Opened:
        """How it began."""
        return self._opened

    @property
    def earlier(self) -> tuple[str, ...]:
        """The sessions that this one goes on from, as far as this process has followed them."""
        return self._earlier

    @property
    def begun(self) -> bool:
        """Something was asked in it: the log has it, or should."""
        unwritten = self._unsaved[:1] and isinstance(self._unsaved[0], Opened)
        return not unwritten or any(isinstance(fact, Asked) for fact in self._unsaved)

    def open(self, opened: Opened) -> None:
        """Begin another conversation. It is written with its first prompt, so that looking around leaves no trace.

        Raises:
            StoreError: the store cannot be written.
        """
        self.flush()
        with self._taking(opened.session_id):
            self.turn = evolve(Turn(self.turn.limits), opened)
        self._unsaved = [opened]
        self._opened, self._title, self._earlier = opened, "", ()

    def load(self, session: str) -> None:
        """Go on with a conversation: its id, the beginning of it, its title, or ``last``. One that was compressed goes
        on in the newest session that came of it.

        Raises:
            NoSession: there is no such session, or several are named so.
            StoreError: another process is in it, or the log cannot be written.
        """
        self.flush()
        *earlier, session_id = self.followed(session)
        with self._taking(session_id):
            facts = self._log.recall(session_id)
            if isinstance(facts[-1], Continued) and line(self._log, session_id)[1:]:
                raise StoreError(f"Session {session_id[:8]} was gone on with elsewhere just now. Resume it again.")
            turn = recall(facts, Turn(self.turn.limits))
            self.turn = replace(turn, fill=replace(turn.fill, compressing=0))  # that ended with the process it was in
        self._unsaved = []
        self._opened = next((fact for fact in facts if isinstance(fact, Opened)), Opened(session_id))
        self._title, self._earlier = title(facts), tuple(earlier)

    def followed(self, session: str) -> list[str]:
        """The session that `session` names, and those in which it goes on, to the newest that is there.

        Raises:
            NoSession, StoreError: as `load`.
        """
        return line(self._log, self._log.find(session))

    def go_on_in(self, opened: Opened, *begins: Kept) -> None:
        """Go on in another session, of which `begins` are the first facts: a compressed conversation. Both are this
        process's while it happens, and the new one is written first: a crash in between leaves the old one as it was.

        Raises:
            StoreError: the new session cannot be written; the old one goes on.
        """
        self.flush()
        old, named = self.turn.session_id, (Titled(self._title, again=True),) if self._title else ()
        facts = (opened, *named, *begins)
        with self._taking(opened.session_id):
            self._log.append(opened.session_id, *facts)
            self.turn = recall((*named, *begins), continued_in(self.turn, opened))
            self._opened, self._earlier = opened, (*self._earlier, old)
            with suppress(StoreError):  # then the old one can be gone on with as well, as if this were a branch of it
                self._log.append(old, Continued(opened.session_id))

    def title(self, title: str) -> None:
        """Name the conversation. One without a prompt is written with its first, name and all.

        Raises:
            StoreError: as `keep`.
        """
        self._note(Titled(title))
        self.flush()

    def whole(self, turns: int | None = None) -> Transcript:
        """The conversation, every call with a result, as if its turn were closed now: all of it, or only its first
        `turns` turns of those that stand.

        Raises:
            HermesError: there are not so many.
            StoreError: the log cannot be read.
        """
        if turns is None:
            return _closed(self.turn).transcript
        self.flush()
        facts = self._facts()
        starts = standing(facts)
        if not 1 <= turns <= len(starts):
            raise HermesError(f"There is no turn {turns} to branch from: this session has {len(starts)} of its own.")
        return self.whole() if turns == len(starts) else _closed(recall(facts[: starts[turns]])).transcript

    def limit(self, limits: Limits) -> None:
        """Other limits, from the next turn on."""
        self.turn = replace(self.turn, limits=limits)

    def undo(self, turns: int) -> int:
        """Take back the last turns, as many as there are; how many that was.

        Raises:
            StoreError: as `keep`.
        """
        self.close_turn("kernel")
        taken = min(max(turns, 0), len(self.turn.starts))
        if taken:
            before = taken > len(standing(self._facts())) and self._opened.earlier.calls
            self.keep(Undone(taken))
            if before:
                self._undo_in(self._opened.parent)
        return taken

    def _facts(self) -> list[Kept]:
        """What the log has of it: nothing before its first prompt."""
        return self._log.recall(self.turn.session_id) if self.begun else []

    def _undo_in(self, earlier: str) -> None:
        """The last turn taken back was said in the session that this one goes on from: it is not found there either."""
        with ExitStack() as held, suppress(StoreError):
            held.callback(self._log.claim(earlier).close)
            self._log.append(earlier, Undone(), Continued(self.turn.session_id))

    def keep(self, event: Kept) -> None:
        """Record a fact. The turn knows it at once, for it has happened; what cannot be written goes first next time.

        Raises:
            StoreError: the log cannot be written.
        """
        self._note(event)
        self._write()

    def close_turn(self, by: str) -> None:
        """End a turn that something cut off; nothing when it is over already. Written with the next fact."""
        for event in closing(self.turn, by):
            self._note(event)

    async def play(
        self, world: World, asked: Asked | None = None, inside: Opened | None = None
    ) -> AsyncGenerator[Event, None]:
        """Play a turn to its end, the one that `asked` begins (in a session that opens so, if `inside` is given) or the
        one at hand, each fact written before it is told. However it is left, the turn is closed.

        Raises:
            StoreError: the log cannot be written.
        """
        try:
            if asked is not None:
                self.close_turn("kernel")
                self.go_on_in(inside, asked) if inside else self.keep(asked)
                yield asked
                if waiting := self._log.waiting:
                    yield Noticed(waiting)
            async with aclosing(play(self.turn, world)) as told:
                async for event in told:
                    if isinstance(event, ENDINGS) or (self.turn.stopped and isinstance(event, Observed)):
                        self._note(event)
                    elif is_kept(event):
                        self.keep(event)
                    yield event
        finally:
            self.close_turn("person")

    def flush(self) -> None:
        """Write what is still to be written, of a conversation that has begun.

        Raises:
            StoreError: the log cannot be written.
        """
        if self._unsaved and self.begun:
            self._write()

    def close(self) -> None:
        """Let another process have the conversation."""
        with suppress(StoreError):  # nobody is left to tell; whoever goes on with the log closes its turn
            self.flush()
        self._claim.close()

    def _note(self, event: Kept) -> None:
        self.turn = evolve(self.turn, event)
        self._unsaved.append(event)
        if isinstance(event, Titled | Asked):
            self._title = title((Titled(self._title), event))

    def _write(self) -> None:
        writing = tuple(self._unsaved)
        self._log.append(self.turn.session_id, *writing)
        del self._unsaved[: len(writing)]  # interrupted before that they are given again, and the log knows them

    @contextmanager
    def _taking(self, session_id: str) -> Iterator[None]:
        """Another conversation is this process's, in place of the one that was; unless it cannot be had: then that one
        stays."""
        if session_id == self.turn.session_id:
            yield
            return
        with ExitStack() as unless_had:
            unless_had.callback(self._log.claim(session_id).close)
            yield
            held, self._claim = self._claim, unless_had.pop_all()
            held.close()


def _closed(turn: Turn) -> Turn:
    return recall(closing(turn, "kernel"), turn)
