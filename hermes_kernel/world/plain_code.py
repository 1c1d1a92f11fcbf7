"""A coroutine method as plain code calls it. Light to import, where `blocking` needs an event loop."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from hermes_kernel.world.blocking import Blocking

T = TypeVar("T")
P = ParamSpec("P")


def from_plain_code(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """`method` of whoever has a `Blocking` called ``blocking``, for code that does not await."""

    @functools.wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return cast("Blocking", cast("Any", args[0]).blocking).run(method(*args, **kwargs))

    run.__name__, run.__qualname__ = f"{method.__name__}_sync", f"{method.__qualname__}_sync"
    run.__doc__ = f"`{method.__name__}` from plain code, also in a notebook cell. Ctrl-C stops it cleanly."
    return run
