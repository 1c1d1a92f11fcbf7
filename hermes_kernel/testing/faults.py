"""Every fault of a model call by its name: a step that brings it about, whichever way of several it takes."""

from __future__ import annotations

from hermes_kernel.core.faults import Fault
from hermes_kernel.testing.overflows import overflow
from hermes_kernel.testing.refusals import filtered, login_page, out_of_quota, rate_limited, status
from hermes_kernel.testing.replies import say
from hermes_kernel.testing.step import Step, used_up
from hermes_kernel.testing.trouble import disconnect, error_in_stream, stall

_WORDS = "Let me think."
_SURROGATES = "'utf-8' codec can't encode character '\\ud83d' in position 3: surrogates not allowed"

FAULTS: dict[Fault, Step] = {
    Fault.RATE_LIMIT: rate_limited(1),
    Fault.PROACTIVE_RATE_LIMIT: used_up(say(_WORDS), 2),
    Fault.BILLING: out_of_quota(),
    Fault.AUTH: status(401),
    Fault.OVERLOADED: status(503),
    Fault.SERVER_ERROR: status(500),
    Fault.TIMEOUT: status(504),
    Fault.STALE_STREAM: stall(_WORDS, after=2, seconds=float("inf")),
    Fault.DISCONNECT: disconnect(_WORDS, after=2),
    Fault.INVALID_RESPONSE: login_page(),
    Fault.CONTEXT_OVERFLOW: overflow(),
    Fault.PAYLOAD_TOO_LARGE: status(413),
    Fault.MODEL_NOT_FOUND: status(404),
    Fault.CONTENT_FILTER: filtered(),
    Fault.FORMAT_ERROR: status(400),
    Fault.UNICODE: status(400, _SURROGATES, fault=Fault.UNICODE),
    Fault.SSL: status(526, "Invalid SSL certificate", fault=Fault.SSL),
    Fault.UNKNOWN: error_in_stream("something odd", text=_WORDS, form="string", fault=Fault.UNKNOWN),
}
"""One step a fault, all but `Fault.NOT_RECORDED`, in which no server has part. That of the proactive rate limit is a
good answer, after which the next request waits."""


def fault(name: str) -> Step:
    """The step for the fault of this name, such as ``"rate_limit"``; `KeyError` names those there are."""
    known = {str(each): step for each, step in FAULTS.items()}
    if name not in known:
        raise KeyError(f"there is no step for a fault {name!r}; there are: {', '.join(sorted(known))}")
    return known[name]
