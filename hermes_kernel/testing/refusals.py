"""Answers that are no stream: HTTP errors with the bodies and wait hints of real servers, and wrong bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from hermes_kernel.core.events import Failed, Replied, TextDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Usage
from hermes_kernel.testing.step import JSON, Headers, Soon, Step

Hint = Literal[
    "none", "seconds", "date", "milliseconds", "go_reset", "azure_text", "try_again", "retry_delay", "retry_after_body"
]
HINTS: tuple[Hint, ...] = Hint.__args__  # type: ignore[attr-defined]
"""Every way in which servers say how long to wait."""

_MEANING = {
    400: (Fault.FORMAT_ERROR, "Bad request"),
    401: (Fault.AUTH, "Incorrect API key provided: sk-wrong. You can find your API key in your settings."),
    402: (Fault.BILLING, "Insufficient Balance"),
    403: (Fault.AUTH, "You do not have access to this resource"),
    404: (Fault.MODEL_NOT_FOUND, "The model `scripted` does not exist or you do not have access to it."),
    408: (Fault.TIMEOUT, "Request timed out"),
    413: (Fault.PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
    429: (Fault.RATE_LIMIT, "Rate limit reached for requests"),
    500: (Fault.SERVER_ERROR, "The server had an error while processing your request"),
    502: (Fault.SERVER_ERROR, "Bad gateway"),
    503: (Fault.OVERLOADED, "The engine is currently overloaded, please try again later"),
    504: (Fault.TIMEOUT, "Gateway timeout"),
    529: (Fault.OVERLOADED, "Overloaded"),
}


def status(
    code: int,
    message: str = "",
    *,
    body: Any = None,
    headers: Mapping[str, str | Soon] | None = None,
    fault: Fault | None = None,
) -> Step:
    """An HTTP error. Without `message` the usual words of that status; `body` (JSON, or text as it is) replaces the
    usual ``{"error": {…}}``; `fault` is what a client should make of it where the status alone does not say."""
    known, words = _MEANING.get(code, (Fault.UNKNOWN, "Unexpected status"))
    said = message or words
    payload = body if body is not None else {"error": {"message": said, "type": "error", "param": None, "code": code}}
    text = payload if isinstance(payload, str) else json.dumps(payload)
    failed = Failed(fault or known, said, status=code)
    return _plain(f"status({code})", code, text, failed, (*JSON, *(headers or {}).items()))


def rate_limited(seconds: float, *, hint: Hint = "seconds", code: int = 429) -> Step:
    """Too many requests (or another `code`): back in `seconds`, said in one of `HINTS` (a date has no fractions)."""
    words = _WORDS.get(hint, "Rate limit reached for requests").format(seconds=f"{seconds:g}")
    body: Any = {"error": {"message": words, "type": "requests", "code": "rate_limit_exceeded"}}
    if hint == "retry_delay":
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}
        error = {"code": code, "message": words, "status": "RESOURCE_EXHAUSTED", "details": [info]}
        body = [{"error": error}]
    elif hint == "retry_after_body":
        body["error"]["retry_after"] = seconds
    step = status(code, words, body=body, headers=_hint_headers(hint, seconds), fault=_MEANING[code][0])
    wait = None if hint == "none" else seconds
    tells = tuple(replace(event, wait=wait) if isinstance(event, Failed) else event for event in step.tells)
    return replace(step, name=f"rate_limited({hint})", tells=tells)


def out_of_quota() -> Step:
    """OpenAI's 429 that no waiting cures."""
    words = "You exceeded your current quota, please check your plan and billing details."
    body = {"error": {"message": words, "type": "insufficient_quota", "code": "insufficient_quota"}}
    return replace(status(429, words, body=body, fault=Fault.BILLING), name="out_of_quota")


def refused_parameter(name: str, *, use: str = "", code: int = 400) -> Step:
    """The server does not know one field of the request; `use` names the one it wants. 422 is Mistral's form."""
    if code == 422:
        detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]
        words, body = "Extra inputs are not permitted", {"object": "error", "message": {"detail": detail}}
    else:
        hint = f" Use '{use}' instead." if use else ""
        words = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
        fields = {"type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}
        body = {"error": {"message": words, **fields}}
    return replace(status(code, words, body=body, fault=Fault.FORMAT_ERROR), name=f"refused_parameter({name})")


def refused_tool_choice() -> Step:
    """LM Studio's refusal of a named tool choice; ``error`` is a string."""
    words = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
    return replace(status(400, words, body={"error": words}), name="refused_tool_choice")


def without_tools(model: str = "scripted") -> Step:
    """Ollama's answer for a model whose template knows no tools."""
    words = f"registry.ollama.ai/library/{model} does not support tools"
    body = {"error": {"message": words, "type": "api_error", "param": None, "code": None}}
    return replace(status(400, words, body=body), name="without_tools")


def failed_generation(written: str) -> Step:
    """Groq's 400 when its model wrote a call it could not read."""
    words = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."
    error = {"message": words, "code": "tool_use_failed", "failed_generation": written}
    return replace(status(400, words, body={"error": error}), name="failed_generation")


def filtered() -> Step:
    """Azure's refusal of a prompt."""
    words = "The response was filtered due to the prompt triggering the content management policy."
    body = {"error": {"message": words, "code": "content_filter", "status": 400}}
    return replace(status(400, words, body=body, fault=Fault.CONTENT_FILTER), name="filtered")


def login_page() -> Step:
    """A captive portal: status 200 and a page of HTML."""
    page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to continue</h1></body></html>"
    failed = Failed(Fault.INVALID_RESPONSE, "a web page instead of an answer", status=200)
    return _plain("login_page", 200, page, failed, (("content-type", "text/html; charset=utf-8"),))


def error_with_200(message: str = "Provider returned error", code: int = 502) -> Step:
    """OpenRouter's error in a JSON body under status 200."""
    body = json.dumps({"error": {"message": message, "code": code}})
    return _plain("error_with_200", 200, body, Failed(Fault.SERVER_ERROR, message, status=code), JSON)


def unstreamed(text: str) -> Step:
    """A whole completion as JSON although a stream was asked for."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = json.dumps({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage})
    step = _plain("unstreamed", 200, body, Failed(Fault.INVALID_RESPONSE, ""), JSON)
    return replace(step, tells=(TextDelta(text), Replied(text, usage=Usage(1, 100, 10))))


_WORDS = {
    "azure_text": "Requests have exceeded the call rate limit. Please retry after {seconds} seconds.",
    "try_again": "Rate limit reached on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351. "
    "Please try again in {seconds}s.",
    "retry_delay": "Resource has been exhausted (e.g. check quota).",
}


def _hint_headers(hint: Hint, seconds: float) -> dict[str, str | Soon]:
    match hint:
        case "seconds":
            return {"retry-after": f"{seconds:g}"}
        case "date":
            return {"retry-after": Soon(seconds)}
        case "milliseconds":
            return {"retry-after-ms": f"{seconds * 1000:g}"}
        case "go_reset":
            minutes, rest = divmod(seconds, 60)
            reset = f"{minutes:g}m{rest:g}s" if minutes else f"{rest:g}s"
            return {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset}
        case _:
            return {}


def _plain(name: str, code: int, text: str, failed: Failed, headers: Headers) -> Step:
    return Step(name, (text.encode(),), (failed,), status=code, headers=headers, chunked=False)
