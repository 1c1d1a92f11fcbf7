"""Whether the slow loops begin by themselves. What a person asks for is never held back."""

from __future__ import annotations

from hermes_kernel.settings import Settings


def held_back(settings: Settings) -> str:
    """Why no slow loop begins by itself; nothing where they do."""
    if not settings.learning:
        return "learning is off"
    if settings.record:
        return "record is on"  # a recording is to be passed on: with what was asked for, and not of other conversations
    return "spec is on" if settings.spec else ""
