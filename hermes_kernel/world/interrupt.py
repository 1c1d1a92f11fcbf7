"""Ctrl-C during a turn presses the stop latch. It raises only inside code that the model runs, never in the loop.

A `KeyboardInterrupt` that lands in an event loop kills a kernel; one that lands in ``time.sleep`` of user code is the
only way to end it. So the frame that was interrupted decides.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def pressing(press: Callable[[], object], inside_user_code: Callable[[FrameType | None], bool]) -> Iterator[None]:
    """While it lasts, SIGINT calls `press` (a latch's), and also raises `KeyboardInterrupt` where the interrupted frame
    lies in user code. Outside the main thread, where no handler can be set, it does nothing. Then the old handler is
    put back."""

    def handler(_: int, frame: FrameType | None) -> None:
        press()
        if inside_user_code(frame):
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)
