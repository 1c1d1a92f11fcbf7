"""What went wrong, and what is done about it: one table each. Both are total; neither knows a clock or a connection."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """Why a model call failed. Named by consequence: two causes with the same ladder share a name."""

    RATE_LIMIT = "rate_limit"
    PROACTIVE_RATE_LIMIT = "proactive_rate_limit"
    BILLING = "billing"
    AUTH = "auth"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    STALE_STREAM = "stale_stream"
    DISCONNECT = "disconnect"
    INVALID_RESPONSE = "invalid_response"
    CONTEXT_OVERFLOW = "context_overflow"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    MODEL_NOT_FOUND = "model_not_found"
    CONTENT_FILTER = "content_filter"
    FORMAT_ERROR = "format_error"
    UNICODE = "unicode"
    SSL = "ssl"
    UNKNOWN = "unknown"
