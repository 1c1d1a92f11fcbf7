"""Events of a chat completion stream as bytes, the way servers really write them. Pure; knows no script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hermes_kernel.testing.step import Beat, Count, Numbered

DONE = b"data: [DONE]\n\n"
_HEAD = '{"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":'
_TEXT = f'data: {_HEAD}[{{"index":0,"delta":{{"content":'
_TAIL = '},"finish_reason":null}]}\n\n'

ThoughtForm = Literal["reasoning_content", "reasoning", "reasoning_details", "content_list", "think_tag"]
CallShape = Literal["openai", "llama", "whole", "ollama", "gemini", "litellm", "dict", "batch", "no_ids", "same_id"]


@dataclass(frozen=True, slots=True)
class Thoughts:
    """Reasoning, in the field where one family of servers puts it."""

    text: str
    form: ThoughtForm = "reasoning_content"


@dataclass(frozen=True, slots=True)
class Asked:
    """One tool call as a model wrote it. ``arguments`` is sent verbatim, JSON or not; ``extra`` holds further fields of
    the call, such as Gemini's ``extra_content``."""

    name: str
    arguments: str
    id: str
    extra: tuple[tuple[str, Any], ...] = ()


def sse(payload: Any) -> bytes:
    """One event. Lone surrogates leave as JSON escapes, as they do from real servers."""
    return f"data: {payload if isinstance(payload, str) else json.dumps(payload)}\n\n".encode()


def text_event(piece: str) -> bytes:
    """An event with a piece of the answer."""
    return f"{_TEXT}{json.dumps(piece)}{_TAIL}".encode()


def delta_event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    """An event with any delta."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {_HEAD}{json.dumps([choice])}}}\n\n".encode()


def usage_event(usage: Mapping[str, Any]) -> bytes:
    """The event after the last choice that tells the tokens."""
    return f'data: {_HEAD}[],"usage":{json.dumps(usage)}}}\n\n'.encode()


def counted(beat: Count, body: bytes) -> bytes:
    """The usage event for a request of `body`."""
    prompt = max(1, len(body) // 4)
    total = prompt + beat.reply_tokens
    return usage_event({"prompt_tokens": prompt, "completion_tokens": beat.reply_tokens, "total_tokens": total})


def thought_events(thoughts: Thoughts) -> list[bytes]:
    """Reasoning as two events, split in the middle."""
    middle = (len(thoughts.text) + 1) // 2
    return [_thought(part, thoughts.form) for part in _tagged(thoughts, middle) if part]


def _tagged(thoughts: Thoughts, middle: int) -> tuple[str, str]:
    first, second = thoughts.text[:middle], thoughts.text[middle:]
    return (f"<think>{first}", f"{second}</think>") if thoughts.form == "think_tag" else (first, second)


def _thought(part: str, form: ThoughtForm) -> bytes:
    match form:
        case "reasoning_content" | "reasoning":
            return delta_event({form: part})
        case "reasoning_details":
            return delta_event({form: [{"type": "reasoning.text", "text": part, "index": 0}]})
        case "content_list":
            inner = [{"type": "text", "text": part}]
            return delta_event({"content": [{"type": "thinking", "thinking": inner}]})
        case "think_tag":
            return text_event(part)


def call_events(calls: Iterable[Asked], shape: CallShape) -> list[Beat]:
    """Tool calls as one family of servers streams them."""
    asked = list(calls)
    if shape == "batch":
        return [_numbered(*(_whole(call, at) for at, call in enumerate(asked)))]
    return [beat for at, call in enumerate(asked) for beat in _one_call(call, at, shape)]


def _one_call(call: Asked, at: int, shape: CallShape) -> list[Beat]:
    match shape:
        case "openai" | "llama" | "litellm" | "same_id":
            return _pieces(call, at, shape)
        case "ollama":
            return [_numbered(_whole(call, 0))]
        case "gemini":
            return [_numbered(_without(_whole(call, at), "index"))]
        case "no_ids":
            return [_numbered(_without(_whole(call, at), "id", "index"))]
        case "dict":
            whole = _whole(call, at)
            return [_numbered(whole | {"function": {"name": call.name, "arguments": json.loads(call.arguments)}})]
        case _:
            return [_numbered(_whole(call, at))]


def _pieces(call: Asked, at: int, shape: CallShape) -> list[Beat]:
    again = {"id": call.id} if shape == "litellm" else {}
    opening = {"index": at, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
    beats = [_numbered(opening | dict(call.extra))]
    for start in range(0, len(call.arguments), 12):
        piece = call.arguments[start : start + 12]
        beats.append(_numbered({"index": at, **again, "function": {"arguments": piece}}))
    if shape == "litellm":
        twice = {"name": call.name, "arguments": json.dumps(call.arguments)}
        beats.append(_numbered(_whole(call, at) | {"function": twice}))
    return beats


def _whole(call: Asked, at: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"index": at, "id": call.id, "type": "function", "function": function, **dict(call.extra)}


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}


def _numbered(*calls: Mapping[str, Any]) -> Beat:
    return Numbered(delta_event({"tool_calls": list(calls)}))
