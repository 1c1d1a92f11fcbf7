"""Token counts as servers tell them, in whichever field, and a guess from sizes where they tell none."""

from __future__ import annotations

from typing import Any

from hermes_kernel.core.messages import Usage

_MOST = 10**12
"""No call has so many tokens or costs so much: what says so (infinity, for one) is no count, and no store takes it."""


def usage_in(chunk: dict[str, Any]) -> Usage | None:
    """The usage that `chunk` tells, or None: OpenAI's field, Groq's ``x_groq``, llama-server's ``timings``."""
    told = chunk.get("usage")
    if not told and isinstance(chunk.get("x_groq"), dict):
        told = chunk["x_groq"].get("usage")
    if isinstance(told, dict) and (_count(told, "prompt_tokens") or _count(told, "completion_tokens")):
        return _usage(told, chunk.get("timings"))
    timings = chunk.get("timings")
    if isinstance(timings, dict) and _count(timings, "predicted_n"):
        cached = _count(timings, "cache_n")
        return Usage(1, _count(timings, "prompt_n") + cached, _count(timings, "predicted_n"), cached)
    return None


def _usage(told: dict[str, Any], timings: Any) -> Usage:
    prompt = _count(told, "prompt_tokens")
    cached = (
        _count(told.get("prompt_tokens_details"), "cached_tokens")
        or _count(told, "prompt_cache_hit_tokens")
        or _count(told, "cache_read_input_tokens")
        or _count(timings, "cache_n")
    )
    return Usage(
        calls=1,
        input_tokens=prompt + cached if cached > prompt else prompt,  # some leave out of the prompt what was cached
        output_tokens=_count(told, "completion_tokens"),
        cached_tokens=cached,
        reasoning_tokens=_count(told.get("completion_tokens_details"), "reasoning_tokens"),
        cost=_cost(told.get("cost")),
    )


def _cost(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _MOST else 0.0


def _count(fields: Any, name: str) -> int:
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST else 0
