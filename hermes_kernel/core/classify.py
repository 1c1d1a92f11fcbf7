"""Which fault a trouble is: one table of wordings, then one of statuses, then one of causes. Total.

Rows are tried from the top; the order is the rule. What a server says counts for more than the number it says it with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hermes_kernel.core.faults import Fault
from hermes_kernel.core.trouble import Cause, Trouble

LONG_LIMIT_SECONDS = 600
"""A rate limit that lasts longer is a spent quota, whatever it is called: another model is asked instead of waiting."""


@dataclass(frozen=True, slots=True)
class Row:
    """A wording, the statuses it counts with (none: any), and what it means."""

    fault: Fault
    wording: re.Pattern[str]
    statuses: frozenset[int] = frozenset()


def _row(fault: Fault, wording: str, *statuses: int) -> Row:
    return Row(fault, re.compile(wording, re.IGNORECASE), frozenset(statuses))


_RATE = re.compile(r"rate.?limit|tokens per (?:minute|day|hour)|\bTPM\b|\bRPM\b|quota|throttl|too many requests", re.IGNORECASE)

OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|contextwindowexceeded|context_window_exceeded"
    r"|maximum (?:context|prompt|input|sequence) (?:length|size)|max(?:imum)? (?:model|context) len"
    r"|exceeds? (?:the )?(?:available |model'?s |maximum )*context|exceeds the (?:maximum|limit).{0,30}tokens"
    r"|context (?:length|window|size|limit)|prompt (?:is )?too long|input (?:is )?too long|prompt exceeds"
    r"|input length exceeds|input length and .?max_tokens.? exceed|input token count.{0,40}exceeds|maximum number of (?:input )?tokens"
    r"|reduce the length of the (?:messages|prompt|input)|too many (?:input |prompt )?tokens|too large for model"
    r"|request_too_large|greater than the context|larger than the context|longer than the (?:model|context|maximum)"
    r"|max_(?:completion_)?tokens must be (?:at least 1|greater than 0), got -|token limit exceeded|prompt.{0,20}tokens? .{0,20}exceed",
    re.IGNORECASE,
)

WORDINGS: tuple[Row, ...] = (
    _row(Fault.BILLING, r"insufficient_quota|exceeded your current quota|billing|credit balance|insufficient (?:balance|credits|funds)"
         r"|payment required|out of credits|requires more credits|spend(?:ing)? limit|account.{0,20}(?:deactivated|suspended)", 400, 402, 403, 429, 0),
    _row(Fault.BILLING, r"(?:usage|session|weekly|monthly|daily) (?:usage )?(?:limit|quota) (?:has been )?(?:reached|exceeded|exhausted)", 403, 429, 0),
    _row(Fault.CONTENT_FILTER, r"content.?filter|content.?policy|content management policy|responsible ?ai|flagged (?:by|as|for)|moderation"
         r"|safety (?:system|setting|reason)|prohibited.content|data_inspection_failed|content risk|cyber_policy"),
    _row(Fault.AUTH, r"(?:invalid|incorrect|expired|missing|unauthori[sz]ed|revoked|malformed).{0,20}(?:api.?key|token|credential)|invalid_api_key"
         r"|api.?key.{0,20}(?:invalid|not valid|expired|required|missing)|authentication|no auth credentials|permission.?denied", 400, 401, 403, 0),
    _row(Fault.MODEL_NOT_FOUND, r"model_not_found|no such model|unknown model|model.{0,80}(?:not found|does not exist|not exist|is not available"
         r"|not supported for this|no longer|decommissioned|deprecated)|not a valid model|no endpoints? found|invalid model|pull(?:ing)? it first",
         400, 403, 404, 410, 422, 500, 0),
    _row(Fault.UNICODE, r"surrogate|invalid (?:utf-?8|unicode|code ?point)|unicode|utf-8.{0,30}(?:decode|encode|codec)|invalid low surrogate", 400, 422, 500, 0),
    _row(Fault.OVERLOADED, r"overloaded|loading model|no available server|insufficient_system_resource|server is busy|system.{0,12}busy"
         r"|capacity|warming up|currently loading|no provider|model is loading|high demand"),
    _row(Fault.RATE_LIMIT, r"rate.?limit|too many requests|resource.?exhausted|throttl|concurrency limit", 400, 403, 429, 500, 0),
    _row(Fault.INVALID_RESPONSE, r"does not match the expected|tool_use_failed|failed to (?:parse|generate).{0,30}(?:tool|function|output|json)"
         r"|invalid diff|malformed_function_call|output_parse_failed"),
)  # fmt: skip

STATUSES: dict[int, Fault] = {
    400: Fault.FORMAT_ERROR, 401: Fault.AUTH, 402: Fault.BILLING, 403: Fault.AUTH, 404: Fault.MODEL_NOT_FOUND,
    405: Fault.MODEL_NOT_FOUND, 407: Fault.AUTH, 408: Fault.TIMEOUT, 409: Fault.SERVER_ERROR, 410: Fault.MODEL_NOT_FOUND,
    413: Fault.PAYLOAD_TOO_LARGE, 415: Fault.FORMAT_ERROR, 422: Fault.FORMAT_ERROR, 425: Fault.OVERLOADED,
    429: Fault.RATE_LIMIT, 451: Fault.CONTENT_FILTER, 498: Fault.OVERLOADED, 499: Fault.DISCONNECT,
    503: Fault.OVERLOADED, 504: Fault.TIMEOUT, 522: Fault.TIMEOUT, 524: Fault.TIMEOUT,
    525: Fault.SSL, 526: Fault.SSL, 529: Fault.OVERLOADED,
}  # fmt: skip

CAUSES: dict[Cause, Fault] = {
    Cause.ANSWER: Fault.UNKNOWN,
    Cause.CONNECT: Fault.DISCONNECT,
    Cause.SSL: Fault.SSL,
    Cause.FIRST_BYTE: Fault.TIMEOUT,
    Cause.STALE: Fault.STALE_STREAM,
    Cause.QUEUED: Fault.TIMEOUT,
    Cause.DISCONNECT: Fault.DISCONNECT,
    Cause.NOT_A_STREAM: Fault.INVALID_RESPONSE,
    Cause.MALFORMED: Fault.INVALID_RESPONSE,
    Cause.ENCODING: Fault.UNICODE,
}

_OVERFLOW_STATUSES = frozenset({0, 400, 413, 422, 429, 500})


def classify(trouble: Trouble) -> Fault:
    """The fault that `trouble` is."""
    if trouble.cause is Cause.DISCONNECT and trouble.large:
        return Fault.CONTEXT_OVERFLOW
    if trouble.cause not in (Cause.ANSWER, Cause.NOT_A_STREAM):
        return CAUSES[trouble.cause]
    if _overflows(trouble):
        return Fault.CONTEXT_OVERFLOW
    fault = _by_wording(trouble) or _by_status(trouble)
    if fault is Fault.RATE_LIMIT and (trouble.wait or 0) > LONG_LIMIT_SECONDS:
        return Fault.BILLING
    if fault is Fault.BILLING and trouble.status == 402 and trouble.wait is not None:
        return Fault.RATE_LIMIT
    return fault


def _overflows(trouble: Trouble) -> bool:
    if trouble.status not in _OVERFLOW_STATUSES:
        return False
    if trouble.status == 413 and _RATE.search(trouble.words):
        return True  # one request is larger than what a minute allows: waiting would not help
    return bool(OVERFLOW.search(trouble.words)) and not (_RATE.search(trouble.message) or trouble.status == 429)


def _by_wording(trouble: Trouble) -> Fault | None:
    said = f"{trouble.code} {trouble.kind} {trouble.words}"
    return next(
        (row.fault for row in WORDINGS if (not row.statuses or trouble.status in row.statuses) and row.wording.search(said)),
        None,
    )


def _by_status(trouble: Trouble) -> Fault:
    if trouble.status in STATUSES:
        return STATUSES[trouble.status]
    if 500 <= trouble.status < 600:
        return Fault.SERVER_ERROR
    return Fault.FORMAT_ERROR if 400 <= trouble.status < 500 else CAUSES[trouble.cause]
