"""Ctrl-C during a turn presses the stop latch. It raises only inside code that the model runs, never in the loop.

A `KeyboardInterrupt` that lands in an event loop kills a kernel; one that lands in ``time.sleep`` of user code is the
only way to end it. So the frame that was interrupted decides.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from hermes_kernel.world.loop_thread import looping


@contextmanager
def pressing(press: Callable[[], object], inside_user_code: Callable[[FrameType | None], bool]) -> Iterator[None]:
    """While it lasts, SIGINT calls `press` (a latch's), and also raises `KeyboardInterrupt` where the interrupted frame
    lies in user code. In an event loop it is heard as well while somebody else's handler stands in place of this one.
    Outside the main thread, where no handler can be set, it does nothing. Then the old handler is put back."""

    def handler(_: int, frame: FrameType | None) -> None:
        press()
        if inside_user_code(frame):
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        with _woken(press):
            yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)


@contextmanager
def _woken(press: Callable[[], object]) -> Iterator[None]:
    """While it lasts, a SIGINT that wakes this thread's event loop calls `press`, whatever handler stands.

    ipykernel puts Python's own in place for each message that it handles beside a cell (``pre_handler_hook``), and an
    interrupt that lands there ends that message and no turn. Whoever was woken before is told on.
    """
    if not looping():
        yield
        return
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

    def woken() -> None:
        numbers = b""
        with suppress(BlockingIOError):  # a loop may call twice for what came once
            numbers = ours.recv(4096)
        if signal.SIGINT in numbers:
            press()
        if before != -1:
            _tell(before, numbers)

    with ours, theirs:
        try:
            with suppress(NotImplementedError):  # loops of Windows watch no sockets in this way
                loop.add_reader(ours, woken)
            yield
        finally:
            signal.set_wakeup_fd(before)
            with suppress(NotImplementedError):
                loop.remove_reader(ours)


def _tell(whom: int, numbers: bytes) -> None:
    with suppress(OSError):
        os.write(whom, numbers)
