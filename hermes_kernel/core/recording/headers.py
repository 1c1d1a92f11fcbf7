"""Hints in the headers of an answer that name an instant, told in seconds: an instant is past when it is read again.
Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_kernel.core.hints import duration, there, wait_hint


def by_seconds(headers: Mapping[str, str], now: float) -> dict[str, str]:
    """`headers` in which no wait depends on the time of day. Names are in lower case."""
    present = there(headers, now)
    return {name: _seconds(name, value, present) for name, value in headers.items()}


def _seconds(name: str, value: str, now: float) -> str:
    wait = _wait(name, value, now)
    if wait is None or wait == _wait(name, value, 0.0):
        return value
    return f"{wait:.3f}".rstrip("0").rstrip(".")


def _wait(name: str, value: str, now: float) -> float | None:
    if name == "retry-after":
        return wait_hint({name: value}, "", now)
    return duration(value, now) if name.startswith("x-ratelimit-reset") else None
