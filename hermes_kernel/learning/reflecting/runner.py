"""`Runner`: looks are taken one at a time, on a thread with an event loop of its own, so that neither code that blocks
nor an interrupt touches them, and they block nothing. What is cut waits again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import closing, contextmanager, suppress
from typing import Any

from hermes_kernel.core.learnt import Looked
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.holding import held_back
from hermes_kernel.learning.reflecting.look import Look, Means
from hermes_kernel.learning.reflecting.taking import claimed, take, take_anyway
from hermes_kernel.learning.reflecting.watch import Want
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.loop_thread import Closed, LoopThread
from hermes_kernel.world.stop import Stopped
from hermes_kernel.world.store import StoreError

CLOSING_SECONDS = 0.12
"""For a look to end when the agent is closed; one that takes longer is due again."""

TRIES, PAUSE_SECONDS = 40, 0.5
"""How often, and how long apart, a look that a person asked for is tried while another is taken."""

ELSEWHERE = "another process looks at this moment"
TROUBLE = (StoreError, HermesError, SettingsError)


class Runner:
    """``look`` is the one that is taken at this moment; ``ended`` is told of each that is over, with `lock` held, and
    what came of it (None: it was cut). ``trouble`` says by loop why the last could not be taken."""

    def __init__(self, means: Means, lock: threading.RLock, ended: Callable[[Look, Want, Looked | None], None]) -> None:
        self.look: Look | None = None
        self.trouble: dict[str, str] = {}
        self._means = means
        self._lock = lock
        self._tell = ended
        self._thread = LoopThread("hermes-looks")
        self._waiting: dict[tuple[str, str], Want] = {}
        self._going = False
        self._last: Future[None] | None = None
        self._playing = 0
        self._closed = False

    def want(self, want: Want) -> bool:
        """Have it looked at, soon; whether that is news."""
        with self._lock:
            news = (want.loop, want.session) not in self._waiting
            self._waiting.setdefault((want.loop, want.session), want)
        return news

    def waits(self, loop: str, session: str) -> Want | None:
        """What waits to be looked at there."""
        return self._waiting.get((loop, session))

    def go_on(self) -> None:
        """Look at what waits, unless that is happening."""
        with self._lock:
            if self._waiting and not self._going and self.look is None and not self._closed:
                self._going = True
                self._last = self.begin(self._all())

    def begin(self, work: Coroutine[Any, Any, None]) -> Future[None] | None:
        """Have `work` done on the thread; None where there is none any more."""
        with suppress(Closed):
            return self._thread.submit(work)
        return None

    @property
    def playing(self) -> bool:
        """A turn is being played."""
        return self._playing > 0

    @contextmanager
    def giving_way(self) -> Iterator[None]:
        """While a turn is played: a look that would keep it waiting is cut, and taken when it is over."""
        with self._lock:
            self._playing += 1
            look = self.look
        if look is not None and look.gives_way:
            look.stop.press("prompt")
        try:
            yield
        finally:
            with self._lock:
                self._playing -= 1
            self.go_on()

    async def now(self, look: Look, want: Want) -> Looked | None:
        """Take `look` for a person, as soon as no other is taken; None where it was cut. From any loop.

        Raises:
            HermesError: there is nothing to look at, or another process does not come to an end.
            StoreError, NoEndpoint: as `take`.
        """
        return await self._thread.run(self._now(look, want))

    def wait(self, seconds: float) -> bool:
        """Block until nothing is being looked at, for at most so long; whether that is so."""
        end = time.monotonic() + seconds
        while (last := self._last) is not None:
            if not wait_for((last,), max(end - time.monotonic(), 0)).done:
                return False
            if not last.cancelled():
                last.result()  # a mistake of ours is not to be overlooked
            if last is self._last:
                break
        return True

    def close(self) -> None:
        """Cut what is being taken, see it end if it does so at once, and take no more."""
        with self._lock:
            closed, self._closed = self._closed, True
            look, last = self.look, self._last
        if closed:
            return
        if look is not None:
            look.stop.press("kernel")
        if last is not None:
            wait_for((last,), CLOSING_SECONDS)
        self._thread.end()

    def when_gone(self, then: Callable[[], None]) -> None:
        """Have `then` called when nothing is done on the thread any more."""
        self._thread.when_gone(then)

    # --- on the thread

    async def _all(self) -> None:
        while (taken := self._next()) is not None:
            await self._tried(*taken)

    async def _tried(self, look: Look, want: Want) -> None:
        """Take it. After one that was not done the others wait, too, for the end of the next turn."""
        looked = None
        try:
            looked = await self._one(look, want)
        except TROUBLE as error:
            self.trouble[want.loop] = str(error)
        finally:
            with self._lock:
                self.look = None
                self._going = looked is not None or (look.stop.by == "prompt" and not self.playing)
                if looked is None:
                    self._waiting.setdefault((want.loop, want.session), want)
                self._tell(look, want, looked)

    def _next(self) -> tuple[Look, Want] | None:
        with self._lock:
            held = self._closed or self.look is not None or held_back(self._means.settings)
            if held or not (self._going and self._waiting):
                self._going = False
                return None
            key = next(iter(self._waiting))
            want = self._waiting.pop(key)
            self.look = Look(self._means, want.loop, want.session, lambda: self.playing)
            return self.look, want

    async def _one(self, look: Look, want: Want) -> Looked | None:
        claim = claimed(self._means)
        if claim is None:
            self.trouble[want.loop] = ELSEWHERE
            return None
        with closing(claim):
            looked = await take(self._means, look, want)
        self.trouble.pop(want.loop, None)
        return looked

    async def _now(self, look: Look, want: Want) -> Looked | None:
        for _ in range(TRIES):
            if self._take_turn(look) and (claim := claimed(self._means)) is not None:
                break
            self._leave_turn(look)
            try:
                await look.stop.race(self._means.resources.clock.sleep(PAUSE_SECONDS))
            except Stopped:
                return None
        else:
            raise HermesError(f"Another look is being taken ({ELSEWHERE}). Try again in a minute.")
        looked = None
        try:
            with closing(claim):
                looked = await take_anyway(self._means, look, want)
        finally:
            with self._lock:
                self._leave_turn(look)
                if looked is not None:
                    self._waiting.pop((want.loop, want.session), None)
                self._tell(look, want, looked)
            self.go_on()
        return looked

    def _take_turn(self, look: Look) -> bool:
        with self._lock:
            if self.look is None:
                self.look = look
            return self.look is look

    def _leave_turn(self, look: Look) -> None:
        with self._lock:
            if self.look is look:
                self.look = None
