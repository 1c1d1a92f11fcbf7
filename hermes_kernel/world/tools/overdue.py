"""A deadline for code that blocks the main thread. A signal is the only thing that ends a blocked call there.

One handler serves all: it is called in the context of the task it interrupts, and so finds that task's own
deadline. Elsewhere, and while code awaits, the batch's deadline ends it.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from types import FrameType
from typing import Any

from hermes_kernel.world.tools.usercode import inside_user_code

AGAIN = 0.5  # seconds after which code that swallowed its deadline hears of it again
END: ContextVar[tuple[float, float]] = ContextVar(
    "end", default=(float("inf"), 0.0)
)  # when, and after how many seconds


class Overdue(BaseException):
    """The deadline of the code has come. Not an `Exception`, so that a ``try`` around a loop's body does not eat it."""


class _Alarm:
    """The process's one interval timer, shared by all who run code at a time."""

    def __init__(self) -> None:
        self.users = 0
        self.before: Any = None

    def set(self, seconds: float) -> None:
        """Ring in `seconds`, or earlier when somebody else's deadline comes earlier."""
        if not self.users:
            self.before = signal.signal(signal.SIGALRM, _ring)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        signal.setitimer(signal.ITIMER_REAL, min(seconds, left) if self.users and left else seconds, AGAIN)
        self.users += 1

    def release(self) -> None:
        """Leave; the last one puts back what was there before."""
        self.users -= 1
        if not self.users:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before if self.before is not None else signal.SIG_DFL)


_alarm = _Alarm()


def _ring(_: int, frame: FrameType | None) -> None:
    end, seconds = END.get()
    if time.monotonic() >= end and inside_user_code(frame):
        raise Overdue(f"the code was ended at its deadline of {seconds:g} s")


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `Overdue` in user code of this task that is still running plainly after `seconds`."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    token = END.set((time.monotonic() + seconds, seconds))
    _alarm.set(seconds)
    try:
        yield
    finally:
        _alarm.release()
        END.reset(token)
