"""Everything that goes wrong once a request was taken: silence, broken connections and streams, useless replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from hermes_kernel.core.events import Event, Failed, Replied, TextDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.testing import wire
from hermes_kernel.testing.replies import Text, Tokens, call, calls, cut, say
from hermes_kernel.testing.step import MARK, Beat, HangUp, Pause, Step, framed
from hermes_kernel.testing.wire import Asked

ErrorForm = Literal["object", "string", "vllm", "openrouter", "event", "llama_line", "list"]
CutForm = Literal["length", "tool_calls", "invalid_diff"]

_ID = f"call_{MARK.decode()}_0"


def stall(text: Text, *, after: int, seconds: float) -> Step:
    """`after` pieces, then silence for `seconds` on an open connection, then the rest."""
    pieces = cut(text)
    head: list[Beat] = [wire.text_event(piece) for piece in pieces[:after]]
    tail: list[Beat] = [wire.text_event(piece) for piece in pieces[after:]]
    ending = [wire.delta_event({}, "stop"), Tokens().beat(len(pieces)), wire.DONE]
    failed = Failed(Fault.STALE_STREAM, "the stream went silent", partial="".join(pieces[:after]))
    tells: tuple[Event | Pause, ...] = (*map(TextDelta, pieces[:after]), Pause(seconds), failed)
    return Step(f"stall(after={after})", framed([*head, Pause(seconds), *tail, *ending]), tells)


def hang_up(*, reset: bool = False) -> Step:
    """The connection is closed before any byte of an answer."""
    failed = Failed(Fault.DISCONNECT, "the connection was closed before an answer")
    return Step("hang_up", (HangUp(reset),), (failed,), status=0)


def disconnect(text: Text, *, after: int, reset: bool = False) -> Step:
    """The connection breaks after `after` pieces of the text: without an end of the chunked body, or with a reset."""
    return _broken(f"disconnect(after={after})", text, after, HangUp(reset))


def disconnect_in_call(name: str, arguments: Mapping[str, Any] | str, *, keep: int, text: str = "") -> Step:
    """The connection breaks when `keep` characters of a call's arguments were sent."""
    beats = [*map(wire.text_event, cut(text)), *_half_call(name, arguments, keep), HangUp()]
    failed = Failed(Fault.DISCONNECT, "the connection was lost in a tool call", partial=text)
    return Step(f"disconnect_in_call({name})", framed(beats), (*map(TextDelta, cut(text)), failed))


def garbled(text: Text, *, after: int) -> Step:
    """After `after` pieces comes an event that is no JSON, and the stream ends."""
    return _broken(f"garbled(after={after})", text, after, b'data: {"choices":[{"index":0,"del\n\n')


def unfinished(text: Text) -> Step:
    """All of the text, then an orderly end of the body with neither a finish reason nor ``[DONE]``."""
    return _broken("unfinished", text, len(cut(text)))


def error_in_stream(
    message: str = "Provider returned error",
    *,
    text: Text = "",
    form: ErrorForm = "object",
    code: int = 502,
    fault: Fault = Fault.SERVER_ERROR,
) -> Step:
    """Status 200, the text, then an error as an event: OpenAI's ``object``, LM Studio's ``string``, old ``vllm``,
    ``openrouter`` with a choice beside it, an SSE ``event: error``, old llama-server's ``llama_line``,
    Gemini's ``list``. `fault` is what a client should make of it."""
    pieces = cut(text)
    failed = Failed(fault, message, status=code, partial="".join(pieces))
    beats = [*map(wire.text_event, pieces), _error_event(message, form, code)]
    return Step(f"error_in_stream({form})", framed(beats), (*map(TextDelta, pieces), failed))


def cut_off(text: Text) -> Step:
    """The output limit ends the text: finish reason ``length``."""
    return replace(say(text, finish="length"), name="cut_off")


def cut_call(name: str, arguments: Mapping[str, Any] | str, *, keep: int, form: CutForm = "length") -> Step:
    """The output limit ends a tool call after `keep` characters of its arguments: told as ``length``, hidden behind
    ``tool_calls`` (vLLM), or as llama-server's error event ``invalid_diff``."""
    half = _half_call(name, arguments, keep)
    whole = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
    if form == "invalid_diff":
        ending: list[Beat] = [_error_event("Invalid diff: now finding less tool calls!", "object", 500)]
    else:
        ending = [wire.delta_event({}, form), Tokens().beat(len(half)), wire.DONE]
    cut_one = ToolCall(_ID, name, whole[:keep], flaw="cut off by the output limit")
    replied = Replied("", (cut_one,), Finish.LENGTH, cut=True, usage=Usage(1, 0, len(half), estimated=True))
    return Step(f"cut_call({name}, {form})", framed([*half, *ending]), (replied,))


def empty() -> Step:
    """A reply of nothing: ``stop``, no text, no calls."""
    return replace(say([]), name="empty")


def thinking_only(thoughts: str, *, finish: str = "stop") -> Step:
    """Reasoning and no answer; with `finish` ``length`` the thoughts used up the output limit."""
    step = replace(say([], thoughts=thoughts, finish=finish), name="thinking_only")
    if finish != "length":
        return step
    return replace(step, tells=tuple(replace(e, cut=True) if isinstance(e, Replied) else e for e in step.tells))


def bad_arguments(name: str, arguments: str = "{'sku': unquoted,, }") -> Step:
    """A call whose arguments are no JSON, reported as if all were well."""
    return replace(call(name, arguments), name=f"bad_arguments({name})")


def duplicate_call(name: str, arguments: Mapping[str, Any], times: int = 2) -> Step:
    """The same call, id and all, `times` times in one reply."""
    asked = Asked(name, json.dumps(dict(arguments)), _ID)
    return replace(calls([asked] * times, shape="same_id"), name=f"duplicate_call({name})")


def no_choices() -> Step:
    """Status 200 and a stream that ends well and holds not one choice."""
    beats: list[Beat] = [wire.usage_event({}), wire.DONE]
    return Step("no_choices", framed(beats), (Failed(Fault.INVALID_RESPONSE, "a stream without an answer"),))


def _broken(name: str, text: Text, after: int, *ending: Beat) -> Step:
    pieces = cut(text)[:after]
    failed = Failed(Fault.DISCONNECT, "the stream ended too early", partial="".join(pieces))
    tells: tuple[Event | Pause, ...] = (*map(TextDelta, pieces), failed)
    return Step(name, framed([*map(wire.text_event, pieces), *ending]), tells)


def _half_call(name: str, arguments: Mapping[str, Any] | str, keep: int) -> list[Beat]:
    whole = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
    return wire.call_events([Asked(name, whole[:keep], _ID)], "openai")


def _error_event(message: str, form: ErrorForm, code: int) -> bytes:
    error = {"message": message, "type": "server_error", "code": code}
    match form:
        case "object":
            return wire.sse({"error": error})
        case "string":
            return wire.sse({"error": message})
        case "vllm":
            return wire.sse({"object": "error", "message": message, "type": "InternalServerError", "code": code})
        case "openrouter":
            choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
            return wire.sse({"id": "gen-1", "object": "chat.completion.chunk", "error": error, "choices": [choice]})
        case "event":
            return b"event: error\n" + wire.sse({"message": message, "code": code})
        case "llama_line":
            return f"error: {json.dumps(error)}\n\n".encode()
        case "list":
            return wire.sse([{"error": error}])
