"""Making a conversation that does not fit smaller, from the facts alone: `compression` under its former names."""

from __future__ import annotations

from hermes_kernel.core.compression import Keep, reduced, size
from hermes_kernel.core.messages import Transcript

__all__ = ["size", "squeeze"]


def squeeze(transcript: Transcript, attempt: int) -> Transcript:
    """A shorter transcript, or the same one when nothing is gained. See `compression.reduced`."""
    return reduced(transcript, attempt, Keep())
