"""What went wrong with a model call, and what is done about it: a ladder of actions for each fault, taken from the top.

Total, and without a clock: waits are numbers here, chance is added where the waiting is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Fault(StrEnum):
    """Why a model call failed. Named by consequence: causes with the same ladder share a name."""

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
    NOT_RECORDED = "not_recorded"
    UNKNOWN = "unknown"


class Action(StrEnum):
    """What can be done about a fault."""

    WAIT = "wait"
    REPAIR = "repair"
    COMPRESS = "compress"
    FALL_BACK = "fall_back"
    REFUSE = "refuse"
    GIVE_UP = "give_up"


_PATIENT = (Action.WAIT, Action.FALL_BACK, Action.GIVE_UP)
_HOPELESS = (Action.FALL_BACK, Action.GIVE_UP)
_TOO_LONG = (Action.COMPRESS, Action.FALL_BACK, Action.GIVE_UP)

LADDERS: Mapping[Fault, tuple[Action, ...]] = {
    Fault.RATE_LIMIT: _PATIENT,
    Fault.PROACTIVE_RATE_LIMIT: _PATIENT,
    Fault.OVERLOADED: _PATIENT,
    Fault.SERVER_ERROR: _PATIENT,
    Fault.TIMEOUT: _PATIENT,
    Fault.STALE_STREAM: _PATIENT,
    Fault.DISCONNECT: _PATIENT,
    Fault.UNKNOWN: _PATIENT,
    Fault.INVALID_RESPONSE: (Action.FALL_BACK, Action.WAIT, Action.GIVE_UP),
    Fault.CONTEXT_OVERFLOW: _TOO_LONG,
    Fault.PAYLOAD_TOO_LARGE: _TOO_LONG,
    Fault.UNICODE: (Action.REPAIR, Action.FALL_BACK, Action.GIVE_UP),
    Fault.CONTENT_FILTER: (Action.FALL_BACK, Action.REFUSE),
    Fault.BILLING: _HOPELESS,
    Fault.AUTH: _HOPELESS,
    Fault.MODEL_NOT_FOUND: _HOPELESS,
    Fault.FORMAT_ERROR: _HOPELESS,
    Fault.SSL: _HOPELESS,
    Fault.NOT_RECORDED: (Action.GIVE_UP,),
}

LAST_RUNGS = frozenset({Action.REFUSE, Action.GIVE_UP})

OF_A_CONNECTION = frozenset({Fault.STALE_STREAM, Fault.DISCONNECT, Fault.TIMEOUT})
"""Faults of one connection, not of a busy server: the first retry does not wait, the later ones do."""


def recover(fault: Fault, left: Mapping[Action, int]) -> Action:
    """The first rung of the fault's ladder that may still be taken; ``left`` counts the tries left of each action."""
    return next(rung for rung in LADDERS[fault] if rung in LAST_RUNGS or left.get(rung, 0) > 0)


def backoff(fault: Fault, attempt: int, base: float, cap: float) -> float:
    """Seconds before retry number ``attempt`` (from 0): ``min(base * 2**n, cap)``, and none before the first retry of a
    fault of one connection."""
    if fault in OF_A_CONNECTION and attempt == 0:
        return 0.0
    return min(base * 2.0 ** (attempt - (fault in OF_A_CONNECTION)), cap)
