"""Why the model stopped writing."""

from __future__ import annotations

from enum import StrEnum


class Finish(StrEnum):
    """A provider's ``finish_reason``, in our words. What follows from one is `policy.decide`'s business."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"
