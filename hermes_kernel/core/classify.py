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
    """Wordings, the statuses they count with (none: any), and what they mean."""

    fault: Fault
    wording: re.Pattern[str]
    statuses: frozenset[int] = frozenset()


def _row(fault: Fault, statuses: str, *wordings: str) -> Row:
    return Row(fault, _any(*wordings), frozenset(map(int, statuses.split())))


def _any(*wordings: str) -> re.Pattern[str]:
    return re.compile("|".join(wordings), re.IGNORECASE)


_RATE = _any(
    r"rate.?limit", r"tokens per (?:minute|day|hour)", r"\bTPM\b", r"\bRPM\b", "quota", "throttl", "too many requests"
)

OVERFLOW = _any(
    r"context_length_exceeded",
    r"exceed_context_size",
    r"contextwindowexceeded",
    r"context_window_exceeded",
    r"request_too_large",
    r"maximum (?:context|prompt|input|sequence) (?:length|size)",
    r"max(?:imum)? (?:model|context) len",
    r"exceeds? (?:the )?(?:available |model'?s |maximum )*context",
    r"exceeds the (?:maximum|limit).{0,30}tokens",
    r"context (?:length|window|size|limit)",
    r"(?:prompt|input) (?:is )?too long",
    r"prompt exceeds",
    r"prompt.{0,20}tokens? .{0,20}exceed",
    r"input length exceeds",
    r"input length and .?max_tokens.? exceed",
    r"input token count.{0,40}exceeds",
    r"maximum number of (?:input )?tokens",
    r"reduce the length of the (?:messages|prompt|input)",
    r"too many (?:input |prompt )?tokens",
    r"too large for model",
    r"(?:greater|larger) than the context",
    r"longer than the (?:model|context|maximum)",
    r"token limit exceeded",
    r"max_(?:completion_)?tokens must be (?:at least 1|greater than 0), got -",
)

WORDINGS: tuple[Row, ...] = (
    _row(
        Fault.BILLING, "0 400 402 403 429",
        r"insufficient_quota", r"exceeded your current quota", r"billing", r"credit balance",
        r"insufficient (?:balance|credits|funds)", r"payment required", r"out of credits", r"requires more credits",
        r"spend(?:ing)? limit", r"account.{0,20}(?:deactivated|suspended)",
    ),
    _row(
        Fault.BILLING, "0 403 429",
        r"(?:usage|session|weekly|monthly|daily) (?:usage )?(?:limit|quota) (?:has been )?(?:reached|exceed|exhaust)",
    ),
    _row(
        Fault.CONTENT_FILTER, "",
        r"content.?filter", r"content.?policy", r"content management policy", r"responsible ?ai",
        r"flagged (?:by|as|for)", r"moderation", r"safety (?:system|setting|reason)", r"prohibited.content",
        r"data_inspection_failed", r"content risk",
    ),
    _row(
        Fault.AUTH, "0 400 401 403",
        r"(?:invalid|incorrect|expired|missing|unauthori[sz]ed|revoked|malformed).{0,20}(?:api.?key|token|credential)",
        r"api.?key.{0,20}(?:invalid|not valid|expired|required|missing)", r"invalid_api_key", r"authentication",
        r"no auth credentials", r"permission.?denied",
    ),
    _row(
        Fault.MODEL_NOT_FOUND, "0 400 403 404 410 422 500",
        r"model_not_found", r"no such model", r"unknown model", r"invalid model", r"not a valid model",
        r"model.{0,80}(?:not found|does not exist|not exist|is not available)",
        r"model.{0,80}(?:not supported for this|no longer|decommissioned|deprecated)",
        r"no endpoints? found", r"pull(?:ing)? it first",
    ),
    _row(
        Fault.UNICODE, "0 400 422 500",
        r"surrogate", r"invalid (?:utf-?8|unicode|code ?point)", r"unicode", r"utf-8.{0,30}(?:decode|encode|codec)",
    ),
    _row(
        Fault.OVERLOADED, "",
        r"overloaded", r"loading model", r"model is loading", r"currently loading", r"warming up", r"capacity",
        r"no available server", r"no provider", r"insufficient_system_resource", r"server is busy",
        r"system.{0,12}busy", r"high demand",
    ),
    _row(
        Fault.RATE_LIMIT, "0 400 403 429 500",
        r"rate.?limit", r"too many requests", r"resource.?exhausted", r"throttl", r"concurrency limit",
    ),
    _row(
        Fault.INVALID_RESPONSE, "",
        r"does not match the expected", r"tool_use_failed", r"invalid diff", r"malformed_function_call",
        r"failed to (?:parse|generate).{0,30}(?:tool|function|output|json)", r"output_parse_failed",
    ),
)  # fmt: skip

STATUSES: dict[int, Fault] = {
    400: Fault.FORMAT_ERROR, 401: Fault.AUTH, 402: Fault.BILLING, 403: Fault.AUTH, 404: Fault.MODEL_NOT_FOUND,
    405: Fault.MODEL_NOT_FOUND, 407: Fault.AUTH, 408: Fault.TIMEOUT, 409: Fault.SERVER_ERROR,
    410: Fault.MODEL_NOT_FOUND,
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
    Cause.NOT_RECORDED: Fault.NOT_RECORDED,
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
    rows = (row for row in WORDINGS if not row.statuses or trouble.status in row.statuses)
    return next((row.fault for row in rows if row.wording.search(said)), None)


def _by_status(trouble: Trouble) -> Fault:
    if trouble.status in STATUSES:
        return STATUSES[trouble.status]
    if 500 <= trouble.status < 600:
        return Fault.SERVER_ERROR
    return Fault.FORMAT_ERROR if 400 <= trouble.status < 500 else CAUSES[trouble.cause]
