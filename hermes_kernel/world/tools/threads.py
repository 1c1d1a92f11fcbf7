"""Blocking work beside the event loop, on daemon threads: nothing that never returns can hold up the kernel's exit."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T], name: str = "hermes-tool") -> asyncio.Future[T]:
    """A future of `work()`, begun at once on a thread of its own in the caller's context.

    One thread a call and not a pool: starting one costs 0.1 ms, and a call that is given up takes no worker with it.
    An `Exception` of `work` is the future's; anything else it raises becomes a `RuntimeError`, because an event loop
    would let a `SystemExit` through.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(setter: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            setter(value)

    def body() -> None:
        try:
            told: tuple[Callable[[Any], None], Any] = (future.set_result, context.run(work))
        except BaseException as error:  # noqa: BLE001 - a thread must hand over whatever ends it
            plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
            told = (future.set_exception, error if plain else RuntimeError(repr(error)))
        try:
            loop.call_soon_threadsafe(settle, *told)
        except RuntimeError:
            return  # the loop is closed: whoever asked has gone

    threading.Thread(target=body, name=name, daemon=True).start()
    return future
