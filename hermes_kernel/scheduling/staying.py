"""A scheduler: it ticks when something is due, and stays. One for each home; kernels step back as long as it lives.

A store that is away is said once, and gone on with when it is back. What is running when it is stopped is stopped too,
and recorded so.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import JOBS, FileBell
from hermes_kernel.scheduling.pacing import is_time, recent
from hermes_kernel.scheduling.posts import SCHEDULER, Post
from hermes_kernel.settings import Settings
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop, Stopped
from hermes_kernel.world.store.apart import Apart
from hermes_kernel.world.store.disk import StoreError

LOOK = 0.5  # seconds between two looks; time asleep is noticed after as many
PAUSE = 15.0  # seconds between two ticks of which the second may have nothing new to look at
FOLD = 600.0  # seconds between two folds of the store
ALONE = 300.0  # seconds after which one looks at a store of one's own though nobody rang
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PROBED = 5  # tries to take a post: who asks whether it is taken holds it for a moment


class Ticking(Protocol):
    """What does all that is due."""

    async def tick(self, stop: Stop, tell: Callable[[object], object]) -> None:
        """All that is due, and what becomes due meanwhile; `tell` is told of each thing what can be printed in a line.

        Raises:
            StoreError: the store cannot be read or written.
        """
        ...


class Folding:
    """`ticker`, after whose deeds the store is folded, once in a while: what is not folded is read anew at each look,
    and a process that stays for months is followed by none that would do it."""

    def __init__(self, ticker: Ticking, clock: Clock, fold: Callable[[], object]) -> None:
        self._ticker, self._clock, self._fold = ticker, clock, fold
        self._folded = clock.elapsed()

    async def tick(self, stop: Stop, tell: Callable[[object], object]) -> None:
        await self._ticker.tick(stop, lambda handled: self._done(handled, tell))

    def _done(self, handled: object, tell: Callable[[object], object]) -> None:
        tell(handled)
        if self._clock.elapsed() - self._folded >= FOLD:
            self._folded = self._clock.elapsed()
            self._fold()


class Scheduler:
    """The scheduler of `home`, with the `ticker` that does the work. ``say`` is told a line for each thing that was
    done. ``shared``: jobs of other homes, of which no bell tells here, may run here."""

    def __init__(
        self, ticker: Ticking, home: Path, clock: Clock, say: Callable[[str], object], *, shared: bool = False
    ) -> None:
        self._ticker, self._clock, self._say, self._shared = ticker, clock, say, shared
        self._agenda, self._bell = Agenda(home), FileBell(home)
        self._began = float("-inf")
        self._trouble = ""

    async def stay(self, stop: Stop) -> None:
        """Until `stop` is pressed. Who else might be at it is not looked at."""
        while not stop.by:
            if self._is_time():
                await self._tick(stop)
            with suppress(Stopped):
                await stop.race(self._clock.sleep(LOOK))

    def _is_time(self) -> bool:
        now = self._clock.now()
        if self._trouble or self._shared:
            return not recent(now, self._began, PAUSE) or (not self._trouble and self._news(now))
        return not recent(now, self._began, ALONE) or self._news(now)

    def _news(self, now: float) -> bool:
        return is_time(now, began=self._began, due=self._agenda.read(), rung=self._bell.rung(JOBS), pause=PAUSE)

    async def _tick(self, stop: Stop) -> None:
        self._began = self._clock.now()
        self._bell.quiet(JOBS)  # before it reads, so that what is rung while it does is heard
        try:
            await self._ticker.tick(stop, lambda handled: self._say(str(handled)))
        except StoreError as error:
            self._troubled(str(error))
        else:
            self._troubled("")

    def _troubled(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._say(trouble or "the store can be used again")
        self._trouble = trouble


async def take_post(home: Path, clock: Clock, stop: Stop, waiting: Callable[[str], object] | None = None) -> Post:
    """The post of the scheduler of `home`, taken; with ``waiting``, which is told once by whom it is held, when it can
    be had. Kernels that watched step back from here on.

    Raises:
        HermesError: another scheduler has it, and nobody wants to wait.
        Stopped: `stop` was pressed before.
        OSError: it cannot be taken in this home.
    """
    post, tries = Post(home, SCHEDULER), 0
    while not post.take():
        if stop.by:
            raise Stopped(stop.by)
        tries += 1
        holder = post.holder()
        if holder and tries >= PROBED and waiting is None:
            raise HermesError(
                f"{holder} is the scheduler of {home} already: stop it, or wait for its place with --wait"
            )
        if holder and tries == PROBED and waiting is not None:
            waiting(f"{holder} is the scheduler of {home}: waiting for its place")
        await stop.race(clock.sleep(LOOK / 10 if tries < PROBED else 2 * LOOK))
    return post


@contextmanager
def signals_press(stop: Stop) -> Iterator[None]:
    """While it lasts, a signal that asks to end presses `stop`, and a second one does what signals do; one that is
    ignored, as under nohup, stays so. For a command that is alone in its process, within its running loop."""
    loop = asyncio.get_running_loop()
    heard = [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]

    def press(by: signal.Signals) -> None:
        stop.press(by.name)
        unhandle()

    def unhandle() -> None:
        for each in heard:
            loop.remove_signal_handler(each)

    for each in heard:
        loop.add_signal_handler(each, press, each)
    try:
        yield
    finally:
        unhandle()


async def stay(
    ticker: Callable[[], Ticking], settings: Settings, clock: Clock, say: Callable[[str], object], *, wait: bool = False
) -> None:
    """What ``hermes-kernel scheduler`` does, until a signal ends it. `ticker` is made once the place is taken.

    Raises:
        HermesError: another scheduler is at it, and `wait` is off.
        OSError: the home cannot be used.
    """
    stop, home = Stop(), settings.home
    with signals_press(stop), suppress(Stopped):
        post = await take_post(home, clock, stop, say if wait else None)
        try:
            say(f"the scheduler of {home} is at work")
            folding = Folding(ticker(), clock, Apart(home, clock.elapsed, settings.store_url).fold)
            await Scheduler(folding, home, clock, say, shared=bool(settings.store_url)).stay(stop)
        finally:
            post.leave()
        say(f"the scheduler of {home} has ended ({stop.by})")
