"""The cheap pass before any model is asked: what repeats itself, what is long and old, pictures, thoughts.

Messages, calls and results stay what they are in number, order and name; what a person said stays word for word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hermes_kernel.core.compression.clipping import clip, clip_arguments, clipped, imageless
from hermes_kernel.core.compression.weight import tokens
from hermes_kernel.core.messages import Assistant, Message, Observation, ToolCall, Transcript, User
from hermes_kernel.core.text import brief

RESULT = 1_200
ARGUMENT = 400
"""Characters kept of an old result, and of one string in the arguments of an old call."""

SAME = 240
"""Characters from which a result that comes again is worth a line in its place; no such line is as long."""


@dataclass(frozen=True, slots=True)
class _Later:
    """Where a text comes for the last time, and from which call."""

    at: int
    call: ToolCall


def prune(transcript: Transcript, last: int) -> Transcript:
    """`transcript` with all but its `last` messages made smaller, or the same object when there is nothing to gain.

    A result that comes again later is one line that names the later call; a long one is head and tail; its images are
    only counted. Long strings in a call's arguments are clipped, and the arguments stay a JSON object with the same
    keys. Thoughts go, and a provider's own reasoning of earlier turns. Twice is as good as once.
    """
    end = max(len(transcript) - last, 0)
    turn = max((n for n, m in enumerate(transcript) if isinstance(m, User) and not m.summary), default=0)
    texts = [_text(message, old=n < end) for n, message in enumerate(transcript)]
    later = _last_of_each(transcript, texts)
    pruned: list[Message] = []
    for n, message in enumerate(transcript[:end]):
        match message:
            case User():
                pruned.append(message)
            case Assistant():
                pruned.append(_assistant(message, earlier=n < turn))
            case Observation():
                pruned.append(replace(message, text=_result(n, texts[n], later.get(texts[n])), images=()))
    return transcript if pruned == list(transcript[:end]) else (*pruned, *transcript[end:])


def _text(message: Message, *, old: bool) -> str:
    """The text of a result, in which the images of an old one are but counted; nothing of other messages."""
    match message:
        case Observation(text=text, images=images):
            return imageless(text, images) if old else text
        case User() | Assistant():
            return ""


def _last_of_each(transcript: Transcript, texts: Sequence[str]) -> Mapping[str, _Later]:
    """Where each result comes last that is whole and long enough."""
    found: dict[str, _Later] = {}
    calls: Mapping[str, ToolCall] = {}
    for n, (message, text) in enumerate(zip(transcript, texts, strict=True)):
        match message:
            case Assistant():
                calls = {call.id: call for call in message.calls}
            case Observation(call_id, name) if len(text) >= SAME and not clipped(text):
                found[text] = _Later(n, calls.get(call_id) or ToolCall(call_id, name, ""))
            case User() | Observation():
                pass
    return found


def _result(n: int, text: str, later: _Later | None) -> str:
    """The old result number `n` made shorter, if it can be."""
    if later and later.at > n and (line := _smaller(text, _same_as(later.call))) != text:
        return line
    return _smaller(text, clip(text, RESULT))


def _same_as(call: ToolCall) -> str:
    asked = f"{brief(call.name, 40)} {brief(call.arguments[:200], 80)}".strip()
    return f"[The same result as that of the later call {asked} (id {brief(call.id, 40)})]"


def _assistant(message: Assistant, *, earlier: bool) -> Assistant:
    calls = tuple(_call(call) for call in message.calls)
    return replace(message, calls=calls, thoughts="", extra="" if earlier else message.extra)


def _call(call: ToolCall) -> ToolCall:
    shorter = clip(call.arguments, ARGUMENT) if call.flaw else clip_arguments(call.arguments, ARGUMENT)
    whole = f"{call.name} {call.arguments}"
    return replace(call, arguments=shorter) if _smaller(whole, f"{call.name} {shorter}") != whole else call


def _smaller(text: str, shorter: str) -> str:
    """The lighter one: where little is cut, the line that says so may weigh more than what it stands for."""
    return shorter if shorter != text and tokens(shorter) < tokens(text) else text
