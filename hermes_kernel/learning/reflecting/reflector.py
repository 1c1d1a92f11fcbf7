"""`Reflector`: what is due in the conversation at hand is on record, is looked at beside it, and is paid for in it.

Nothing is lost: what is due stays on record until a look was taken; one that is cut is due again; none is taken twice.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractContextManager, suppress
from typing import Any

from hermes_kernel.core.events import Spent
from hermes_kernel.core.learnt import LookDue, Looked
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.holding import held_back
from hermes_kernel.learning.reflecting.look import Look, Means
from hermes_kernel.learning.reflecting.ours import own
from hermes_kernel.learning.reflecting.runner import Runner
from hermes_kernel.learning.reflecting.standing import Standing, off, standing
from hermes_kernel.learning.reflecting.taking import ASKED, left_over
from hermes_kernel.learning.reflecting.watch import Want, Watch
from hermes_kernel.world.loop_thread import Closed
from hermes_kernel.world.store import StoreError

COSTS = {"nudge": "nudge", "review": "skill review"}
"""The loops, and what their cost is called."""

TICK_SECONDS = 600.0
"""How often is looked whether something was left, where nothing is looked at by time."""

CUT_SECONDS = 0.5
CUT = "The look was cut: what it wrote until then is kept, and it can be taken again."


class Reflector:
    """That of the agent whose conversation is in the session `here` says. Safe from any thread."""

    def __init__(self, means: Means, here: Callable[[], str]) -> None:
        self._means = means
        self._here = here
        self._lock = threading.RLock()
        self._runner = Runner(means, self._lock, self._ended)
        self._watch = Watch()
        self._owed: dict[str, Usage] = {}
        self._began = means.resources.clock.now()
        self._ticking = False
        self._closed = False

    # --- what the conversation tells

    def after(self, turn: Turn) -> None:
        """A turn is over: what is due now is on record when it returns, and is looked at beside whatever comes next."""
        if self._closed or held_back(self._means.settings):
            return
        with self._lock:
            self._want(self._watch.over(turn, self._now(), self._means.settings))
            if not self._ticking:
                self._ticking = True
                self._runner.begin(self._tick())

    def moves(self, session: str) -> None:
        """The conversation goes on in another session than `session`: what is due of this one is on record when it
        returns."""
        if not self._closed:
            with self._lock:
                self._want(self._watch.moves(session))

    def giving_way(self) -> AbstractContextManager[None]:
        """While a turn is played. Of a model that answers one call at a time, or so many a minute, the turn is not to
        wait for a look: it is cut, and taken when the turn is over."""
        return self._runner.giving_way()

    def leave(self) -> None:
        """Another conversation begins. What was not looked at in this one is due; what its looks have cost is owed."""
        with self._lock:
            if (look := self._runner.look) is not None:
                self._owe(look)
            for want in self._allowed(self._watch.left(self._means.settings)):
                self._record(want)

    def owed(self) -> tuple[Spent, ...]:
        """What looks at this conversation have cost, each time once."""
        with self._lock:
            owed, self._owed = self._owed, {}
        return tuple(Spent(usage, COSTS[loop], itemised=True) for loop, usage in owed.items() if usage.calls)

    def close(self) -> None:
        """Leave: a look that is being taken is cut, and none is taken any more. In less than 0.2 s."""
        closed, self._closed = self._closed, True
        if not closed:
            self._runner.close()
            self.leave()

    def when_gone(self, then: Callable[[], None]) -> None:
        """Have `then` called when what was cut has ended, which may be after `close`: it writes till then."""
        self._runner.when_gone(then)

    # --- what a person asks

    async def look(self, loop: str) -> Looked:
        """Look now, at what no look has seen of this conversation, or else at its last turn. Not waited for any longer,
        it is cut.

        Raises:
            HermesError: nothing was said yet, what is found may not be written, or it was cut or could not be taken.
            NoEndpoint: there is no model to ask.
            StoreError: the store cannot be used.
        """
        setting = "memory_writes" if loop == "nudge" else "skill_writes"
        if getattr(self._means.settings, setting) == "off":
            raise HermesError(f"{setting} is off, so nothing could be kept. Set it to on or ask, then look.")
        session = self._here()
        look = Look(self._means, loop, session, lambda: self._runner.playing)
        looked = await self._now_or_never(look, Want(loop, session, ASKED))
        if looked is None:
            raise HermesError(CUT)
        if loop == "nudge":
            self._watch.looked(self._now())
        return looked

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Have `work` done on the thread of the looks, until it ends or the agent is closed."""
        if self._runner.begin(work) is None:
            work.close()

    def wait(self, seconds: float) -> bool:
        """Block until what was begun is done, for at most so long; whether it is."""
        return self._runner.wait(seconds)

    def status(self) -> tuple[Standing, ...]:
        """How it stands with each loop.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._lock:
            look, unseen = self._runner.look, self._watch.unseen(self._now())
        return standing(self._means, unseen, look, self._runner.trouble)

    # --- inside

    async def _now_or_never(self, look: Look, want: Want) -> Looked | None:
        """What came of it. Not waited for any longer, it is cut, and seen to its end."""
        asked = asyncio.ensure_future(self._runner.now(look, want))
        try:
            return await asyncio.shield(asked)
        except Closed:
            raise HermesError("The agent is closed, and looks at nothing any more.") from None
        except asyncio.CancelledError:
            look.stop.press("person")
            await asyncio.wait({asked}, timeout=CUT_SECONDS)
            raise

    def _want(self, wants: Iterable[Want]) -> None:
        """Have them looked at. What is due is on record, but for what is looked at just now: the record of that look
        would say that it was done, so it is recorded behind it."""
        for want in self._allowed(wants):
            look = self._runner.look
            if self._runner.want(want) and (look is None or (look.loop, look.session) != (want.loop, want.session)):
                self._record(want)
        self._runner.go_on()

    def _allowed(self, wants: Iterable[Want]) -> list[Want]:
        return [want for want in wants if not off(self._means, want.loop)]

    def _record(self, want: Want) -> None:
        own(self._means.settings, want.session)
        try:
            self._means.chronicle.record(LookDue(want.loop, want.session, want.why))
        except StoreError as error:  # it is looked at nevertheless, if this process lives
            self._runner.trouble[want.loop] = str(error)

    def _ended(self, look: Look, want: Want, looked: Looked | None) -> None:
        """A look is over."""
        self._owe(look)
        if looked is not None and (news := self._runner.waits(want.loop, want.session)):
            self._record(news)

    def _owe(self, look: Look) -> None:
        """What it has cost so far belongs to the conversation, if that is the one at hand. What it still costs when
        another was begun is in its own session, as all of it is."""
        if look.session in self._watch.line or look.session == self._here():
            self._owed[look.loop] = self._owed.get(look.loop, Usage()) + look.billed()

    def _take_up(self, wants: Iterable[Want]) -> None:
        """Have looked at what is on record as due already."""
        for want in self._allowed(wants):
            look = self._runner.look
            if look is None or (look.loop, look.session) != (want.loop, want.session):
                self._runner.want(want)
        self._runner.go_on()

    async def _tick(self) -> None:
        """Beside the conversation: what others left, and what is due because nothing is asked any more."""
        clock, before = self._means.resources.clock, self._began
        while True:
            with suppress(StoreError):
                self._take_up(left_over(self._means, self._here(), before))
            seconds = self._means.settings.nudge_seconds or TICK_SECONDS
            await clock.sleep(seconds)
            before = clock.now() - seconds
            with self._lock:
                if not self._runner.playing:
                    self._want(self._watch.idle(self._now(), self._means.settings))

    def _now(self) -> float:
        return self._means.resources.clock.elapsed()
