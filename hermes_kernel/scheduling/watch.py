"""Whoever has a notebook open has a scheduler: one look after another at the agenda, and a tick when its time comes.

It opens no database, asks no model and never touches the kernel's loop; the tick is a process of its own. Of the
kernels of a home one watches, and none while a scheduler does.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import JOBS, FileBell
from hermes_kernel.scheduling.pacing import is_time, recent
from hermes_kernel.scheduling.posts import SCHEDULER, WATCH, Post
from hermes_kernel.scheduling.ticks import note_end, start_tick, trim_log

CHUNK = 5.0  # seconds between two looks of a kernel that has nothing to watch; time asleep is noticed after as many
LOOK = 1.0  # seconds between two looks of the one that watches
PAUSE = 60.0  # seconds between two ticks of which the second would look at nothing new, or the first failed


class Watch:
    """Watches over the jobs of `home` in this process, if nobody else does. ``shared``: jobs of other homes, which no
    agenda here tells of, may run here, so a tick looks for them once a minute."""

    def __init__(
        self,
        home: Path,
        *,
        shared: bool = False,
        now: Callable[[], float] = time.time,
        start: Callable[[Path], subprocess.Popen[bytes]] = start_tick,
    ) -> None:
        self._home, self._shared, self._now, self._start = home, shared, now, start
        self._agenda, self._bell = Agenda(home), FileBell(home)
        self._post, self._scheduler = Post(home, WATCH), Post(home, SCHEDULER)
        self._tick: subprocess.Popen[bytes] | None = None
        self._began = float("-inf")
        self._failed = False

    def until(self, closed: threading.Event) -> None:
        """Watch until it is set; for a thread. A tick that was started goes on."""
        try:
            while not closed.wait(self.look()):
                pass
        finally:
            self.close()

    def close(self) -> None:
        """Let another kernel watch. Twice is as good as once."""
        self._tick = None
        self._post.leave()

    def look(self) -> float:
        """Do what is to be done now; the seconds until the next look."""
        with suppress(OSError):  # a disk that is away: nothing can be said of jobs before it is back
            self._reap()
            if self._has_post():
                self._see_to()
                return LOOK
        return CHUNK

    def _has_post(self) -> bool:
        """It is this process that watches. Costs one look at the disk in a home without jobs."""
        if not (self._shared or self._agenda.written()) or self._scheduler.holder():
            self._post.leave()
            return False
        return self._post.take()

    def _reap(self) -> None:
        """Know how the tick ended."""
        code = self._tick.poll() if self._tick is not None else None
        if code is None:
            return
        self._tick, self._failed = None, code != 0
        note_end(self._home, code, self._now())
        if self._failed:
            self._bell.ring(JOBS)  # what it was rung for it may not have seen

    def _see_to(self) -> None:
        """While a tick lives, what becomes due is its to do."""
        if self._tick is not None:
            trim_log(self._home)
        elif self._is_time(self._now()):
            self._begin(self._now())

    def _is_time(self, now: float) -> bool:
        """Something is due, or somebody rang. What was so when the last tick began is left alone for a while: it has
        seen it."""
        lately = recent(now, self._began, PAUSE)
        if lately and self._failed:
            return False
        due, rung = self._agenda.read(), self._bell.rung(JOBS)
        return is_time(now, began=self._began, due=due, rung=rung, pause=PAUSE) or (self._shared and not lately)

    def _begin(self, now: float) -> None:
        self._began = now
        self._bell.quiet(JOBS)  # before it reads, so that what is rung while it does is heard
        try:
            self._tick = self._start(self._home)
        except OSError as error:
            self._failed = True
            self._bell.ring(JOBS)
            note_end(self._home, 1, now, f"no process can be started: {error.strerror or error}")


def watcher(home: Path) -> str:
    """Who sees to the jobs of `home` now, as ``a scheduler (process 4711)``; nothing where nobody does."""
    for name, who in ((SCHEDULER, "a scheduler"), (WATCH, "an open kernel")):
        if holder := Post(home, name).holder():
            return f"{who} ({holder})"
    return ""
