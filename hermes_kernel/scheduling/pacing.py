"""Is it time to tick? One rule for whoever watches, be it a kernel or a scheduler. Knows no clock and no disk."""

from __future__ import annotations


def is_time(now: float, *, began: float, due: float | None, rung: bool, pause: float) -> bool:
    """At `now`, after a tick that `began` then (minus infinity: none), where the agenda names `due` and a bell was
    `rung` or not. What was due when that tick began is left alone for `pause` seconds: the tick has seen it, and
    another process may be at it."""
    news = rung or (due is not None and began < due <= now)
    return news or (due is not None and due <= now and not recent(now, began, pause))


def recent(now: float, began: float, pause: float) -> bool:
    """Not yet `pause` seconds ago. A clock that was set back holds nothing up."""
    return 0 <= now - began < pause
