"""The one doorway to code that is not ours. A frame beneath it may be interrupted; a frame of ours or of the event loop
never is. `inside_user_code` is for a SIGINT handler, which asks it before it raises.

Who went in comes out: a process that the code forked and that would go on as if it were this one ends at the door.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


def call_user(work: Callable[[], T]) -> T:
    """``work()``, interruptible."""
    came = os.getpid()
    try:
        value = work()
    except BaseException as error:
        if os.getpid() != came:
            _leave(error)
        raise
    return value if os.getpid() == came else _leave()


async def await_user(work: Awaitable[T]) -> T:
    """``await work``, interruptible while it runs; while it waits, it is ended by cancelling its task."""
    came = os.getpid()
    try:
        value = await work
    except BaseException as error:
        if os.getpid() != came:
            _leave(error)
        raise
    return value if os.getpid() == came else _leave()


def _leave(error: BaseException | None = None) -> NoReturn:
    """End this child as `multiprocessing` ends one: its parent asks the model and keeps the session."""
    code = int(error is not None)
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        with suppress(Exception):
            traceback.print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


DOORS = frozenset({call_user.__code__, await_user.__code__})


def inside_user_code(frame: FrameType | None) -> bool:
    """Whether an exception raised in `frame` meets a doorway before it meets the event loop. A doorway's own frame does
    not count by itself: only what it called is user code."""
    frame = frame.f_back if frame is not None and frame.f_code in DOORS else frame
    return _beneath(frame)


def _beneath(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code in DOORS:
            return True
        frame = frame.f_back
    return False
