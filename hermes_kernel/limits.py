"""What one turn may use, from the settings: a turn of the conversation, of a subagent, of side work."""

from __future__ import annotations

from dataclasses import replace

from hermes_kernel.core.budget import Limits
from hermes_kernel.settings import Settings

CALLS, RETRIES, PATIENCE_SECONDS = 3, 2, 60.0  # of side work


def turn_limits(settings: Settings) -> Limits:
    """The limits of a turn."""
    return Limits(
        max_iterations=settings.max_iterations,
        max_retries=settings.max_retries,
        retry_base_seconds=settings.retry_base_seconds,
        retry_max_seconds=settings.retry_max_seconds,
        max_continuations=settings.max_continuations,
        max_tokens=settings.max_tokens,
        model_max_tokens=settings.model_max_tokens or Limits().model_max_tokens,
        refunds=settings.refunds,
        compress_at=settings.compress_at,
        compress_hard_at=settings.compress_hard_at,
        routes=1 + len(settings.fallback_models),
    )


def lease_limits(settings: Settings) -> Limits:
    """The limits of a turn that works on a lease, which is never exceeded."""
    return replace(turn_limits(settings), refunds=0)


def side_limits(settings: Settings, routes: int) -> Limits:
    """The limits of side work: few calls and retries, no long waits, nothing compressed."""
    return replace(
        turn_limits(settings),
        max_iterations=CALLS,
        max_retries=min(settings.max_retries, RETRIES),
        patience_seconds=PATIENCE_SECONDS,
        max_continuations=1,
        refunds=0,
        empties=0,
        growths=1,
        compressions=0,
        routes=routes,
    )
