"""The one doorway to code that is not ours. A frame beneath it may be interrupted; a frame of ours or of the event loop
never is. `inside_user_code` is for a SIGINT handler, which asks it before it raises."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def call_user(work: Callable[[], T]) -> T:
    """``work()``, interruptible."""
    return work()


async def await_user(work: Awaitable[T]) -> T:
    """``await work``, interruptible while it runs; while it waits, it is ended by cancelling its task."""
    return await work


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
