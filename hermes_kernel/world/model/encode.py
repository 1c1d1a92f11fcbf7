"""Requests as bytes. A message is encoded once: a transcript that grew since the last call costs what it grew by.

Pure but for its memory. Knows what one endpoint wants (`Quirks`), not how it is reached.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.gauge import Counts, weighed
from hermes_kernel.core.gauge import counts as counts_of
from hermes_kernel.core.messages import Assistant, Message, Observation, ToolSpec, Transcript, User
from hermes_kernel.core.text import REPLACEMENT, scrub
from hermes_kernel.world.model.forms import images_of, wire_messages
from hermes_kernel.world.model.quirks import Quirks, Sent
from hermes_kernel.world.model.schema import plain

_MOST_MEMORIES = 8


@dataclass(frozen=True, slots=True)
class Style:
    """All that changes how a message is written. ``caution``: 1 ASCII only, 2 the basic plane only."""

    quirks: Quirks
    caution: int = 0


@dataclass(slots=True)
class _Group:
    """Messages that go over the wire as one piece: neighbouring `User`s as one, a tool's images after its result.
    ``counts`` is of the transcript to the end of this piece."""

    start: int
    end: int
    encoded: bytes
    images: bool
    counts: Counts


class Memory:
    """The encoded beginning of one transcript."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self._messages: list[Message] = []
        self._groups: list[_Group] = []

    def encode(self, transcript: Transcript) -> tuple[list[bytes], bool, Counts]:
        """The pieces of `transcript`, whether images are in them, and how much. Messages are known by identity."""
        at = self._known(transcript)
        while at < len(transcript):
            end = _group_end(transcript, at)
            messages = wire_messages(transcript[at:end], self.style.quirks, after=transcript[at - 1] if at else None)
            encoded = b",".join(dump(message, self.style.caution) for message in messages)
            images = self.style.quirks.vision and any(images_of(message) for message in transcript[at:end])
            so_far = self._groups[-1].counts if self._groups else Counts()
            counts = so_far + sent_of(transcript[at:end], self.style.quirks)
            self._groups.append(_Group(at, end, encoded, images, counts))
            at = end
        self._messages[:] = transcript
        counts = self._groups[-1].counts if self._groups else Counts()
        return [group.encoded for group in self._groups], any(group.images for group in self._groups), counts

    def _known(self, transcript: Transcript) -> int:
        """Where encoding has to begin. The last group may have grown, so it is one of those that are done again."""
        same = 0
        for known, message in zip(self._messages, transcript, strict=False):
            if known is not message:
                break
            same += 1
        while self._groups and (self._groups[-1].end > same or _grows(self._groups[-1], transcript)):
            self._groups.pop()
        return self._groups[-1].end if self._groups else 0


class Encoder:
    """Writes the requests to one endpoint."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._memories: dict[int, Memory] = {}
        self._tools: tuple[tuple[ToolSpec, ...], bool, bytes, Counts] = ((), False, b"", Counts())
        self._system: tuple[str, Counts] = ("", Counts())

    def body(self, call: CallModel, tools: Sequence[ToolSpec], quirks: Quirks, max_tokens: int) -> tuple[bytes, Sent]:
        """The request for `call` and what is in it. ``max_tokens`` 0 leaves the limit to the endpoint."""
        style = Style(quirks, call.caution)
        fields = _fields(self._model, quirks, max_tokens)
        offers = call.tools and quirks.tools and bool(tools)
        offered, told = self._offer(tuple(tools), plain_schemas=quirks.plain_schemas) if offers else (b"", Counts())
        messages, images, counts = self._messages(call, style)
        head = dump(fields, call.caution)[:-1]
        sent = Sent(frozenset(fields) | ({"tools"} if offered else set()), images, counts, told)
        return b"".join([head, offered, b',"messages":[', messages, b"]}"]), sent

    def _messages(self, call: CallModel, style: Style) -> tuple[bytes, bool, Counts]:
        transcript, tail = _parted(call.transcript, call.suffix)
        pieces, images, counts = self._memory(transcript, style).encode(transcript)
        if self._system[0] != call.system:
            self._system = (call.system, weighed(User(call.system)))
        counts += self._system[1] + sent_of(tail, style.quirks)
        if call.system:
            pieces = [dump({"role": "system", "content": call.system}, style.caution), *pieces]
        extra = wire_messages(tail, style.quirks, after=transcript[-1] if transcript else None)
        images = images or (style.quirks.vision and any(images_of(message) for message in tail))
        return b",".join([*pieces, *(dump(message, style.caution) for message in extra)]), images, counts

    def _memory(self, transcript: Transcript, style: Style) -> Memory:
        key = id(transcript[0]) if transcript else 0
        memory = self._memories.pop(key, None)
        if memory is None or memory.style != style:
            memory = Memory(style)
        self._memories[key] = memory
        if len(self._memories) > _MOST_MEMORIES:
            del self._memories[next(iter(self._memories))]
        return memory

    def _offer(self, tools: tuple[ToolSpec, ...], *, plain_schemas: bool) -> tuple[bytes, Counts]:
        if self._tools[:2] != (tools, plain_schemas):
            offered = dump([_tool(spec, plain_schemas=plain_schemas) for spec in tools], 1)
            self._tools = (tools, plain_schemas, b',"tools":' + offered, counts_of(offered.decode()))
        return self._tools[2:]


def dump(value: Any, caution: int) -> bytes:
    """`value` as JSON bytes that are well-formed whatever is in it."""
    if caution:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        text = scrub(text)
        if caution > 1:
            text = "".join(char if char <= "\uffff" else REPLACEMENT for char in text)
        return json.dumps(json.loads(text), separators=(",", ":")).encode("ascii")
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return scrub(text).encode()


def sent_of(messages: Sequence[Message], quirks: Quirks) -> Counts:
    """What is sent of `messages`: no images where none can be seen, reasoning where it is wanted back."""
    counts = weighed(*messages)
    if quirks.replay:
        extras = (counts_of(message.extra) for message in messages if isinstance(message, Assistant) and message.extra)
        counts = sum(extras, counts)
    return counts if quirks.vision else replace(counts, images=0)


def _parted(transcript: Transcript, suffix: User | None) -> tuple[Transcript, Transcript]:
    """What stays, and what ends this call only: `suffix` with all that goes over the wire as one piece with it."""
    if suffix is None:
        return transcript, ()
    users = _before(transcript, len(transcript), User)
    results = _before(transcript, users, Observation)
    at = results if any(images_of(message) for message in transcript[results:users]) else users
    return transcript[:at], (*transcript[at:], suffix)


def _before(transcript: Transcript, end: int, kind: type[Message]) -> int:
    """Where the messages of one kind begin that end at `end`."""
    while end and isinstance(transcript[end - 1], kind):
        end -= 1
    return end


def _group_end(transcript: Transcript, at: int) -> int:
    """Where the group that begins at `at` ends."""
    end, kind = at + 1, type(transcript[at])
    if kind is Assistant:
        return end
    while end < len(transcript) and type(transcript[end]) is kind:
        end += 1
    if kind is Observation and any(images_of(message) for message in transcript[at:end]):
        while end < len(transcript) and isinstance(transcript[end], User):
            end += 1
    return end


def _grows(group: _Group, transcript: Transcript) -> bool:
    return group.end < len(transcript) and _group_end(transcript, group.start) > group.end


def _fields(model: str, quirks: Quirks, max_tokens: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"model": model, "stream": True}
    if "stream_options" not in quirks.dropped:
        fields["stream_options"] = {"include_usage": True}
    if quirks.temperature is not None and "temperature" not in quirks.dropped:
        fields["temperature"] = quirks.temperature
    if max_tokens and quirks.limit_name not in quirks.dropped:
        fields[quirks.limit_name] = min(max_tokens, quirks.most_tokens or max_tokens)
    return fields


def _tool(spec: ToolSpec, *, plain_schemas: bool) -> dict[str, Any]:
    parameters = json.loads(spec.parameters)
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": plain(parameters) if plain_schemas else parameters,
    }
    return {"type": "function", "function": function}
