"""One answer of a scripted server as a value: what goes over the wire, and what a right adapter would make of it.

Knows HTTP framing and nothing of sockets. The two views are built together, so a script runs over a real connection
(`server.Server`) and in-process (`model.ScriptedModel`) alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hermes_kernel.core.events import Event, Failed
from hermes_kernel.core.faults import Fault

MARK = b"%N%"
"""Replaced, where it stands in a `Numbered` beat, by the number of the request: ids differ from reply to reply."""

_BLOCK = 32_768
"""Bytes that are written at once; small frames are joined up to this size so that a chunk costs next to nothing."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence for so many seconds, connection open. ``float("inf")`` is for ever."""

    seconds: float


@dataclass(frozen=True, slots=True)
class HangUp:
    """The server closes the connection here: orderly, or with a TCP reset."""

    reset: bool = False


@dataclass(frozen=True, slots=True)
class Numbered:
    """Bytes in which `MARK` becomes the number of the request."""

    template: bytes


@dataclass(frozen=True, slots=True)
class Count:
    """A usage event whose prompt tokens are counted from the request: a quarter of its bytes."""

    reply_tokens: int


Beat = bytes | Numbered | Count | Pause | HangUp


@dataclass(frozen=True, slots=True)
class Soon:
    """A header value: the HTTP date so many seconds after the server's present."""

    seconds: float


Headers = tuple[tuple[str, str | Soon], ...]
STREAM: Headers = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
JSON: Headers = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. ``delay`` seconds pass before its first byte; a ``chunked`` body is already framed except for its
    `Numbered` and `Count` beats; ``tells`` are the events an adapter should make of it; ``repeats`` marks a last step
    that answers every further request too."""

    name: str
    beats: tuple[Beat, ...]
    tells: tuple[Event | Pause, ...] = ()
    status: int = 200
    headers: Headers = STREAM
    chunked: bool = True
    delay: float = 0.0
    repeats: bool = False


def frame(data: bytes) -> bytes:
    """`data` as one chunk of HTTP/1.1 chunked encoding."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def framed(beats: Iterable[Beat]) -> tuple[Beat, ...]:
    """`beats` with each run of bytes framed (one event, one HTTP chunk) and joined into large blocks."""
    out: list[Beat] = []
    block = bytearray()
    for beat in beats:
        if isinstance(beat, bytes):
            block += frame(beat)
        if block and (len(block) >= _BLOCK or not isinstance(beat, bytes)):
            out.append(bytes(block))
            block.clear()
        if not isinstance(beat, bytes):
            out.append(beat)
    return (*out, bytes(block)) if block else tuple(out)


def forever(step: Step) -> Step:
    """`step`, answering every request from here on. Makes sense at the end of a script."""
    return replace(step, repeats=True)


def late(step: Step, seconds: float) -> Step:
    """`step`, its first byte (status line and all) only after `seconds`."""
    return replace(step, name=f"late({step.name})", delay=seconds, tells=(Pause(seconds), *step.tells))


def queued(step: Step, seconds: float, *, every: float = 0.02, line: bytes = b": PROCESSING\n\n") -> Step:
    r"""`step` after `seconds` in which nothing but keep-alives come: comments, or `line` = ``b"\n"`` for blank lines.
    For ever when `seconds` is infinite; then one keep-alive each `every` seconds for an hour."""
    count = max(1, int(min(seconds, 3600.0) / every))
    waits = framed(beat for _ in range(count) for beat in (line, Pause(every)))
    return replace(step, name=f"queued({step.name})", beats=waits + step.beats, tells=(Pause(seconds), *step.tells))


def used_up(step: Step, seconds: float) -> Step:
    """`step`, and with it the word that the limit of requests is used up for `seconds`: the next one has to wait."""
    told = (("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", f"{seconds:g}s"))
    return replace(step, name=f"used_up({step.name})", headers=(*step.headers, *told))


def raw(*parts: bytes | float, status: int = 200, headers: Headers = STREAM, fault: Fault = Fault.DISCONNECT) -> Step:
    """A body of exactly these bytes; a number is a silence of so many seconds, at the end ``float("inf")`` for one that
    lasts. `fault` is what a client should make of it: a `ScriptedModel` tells just that."""
    beats = tuple(frame(part) if isinstance(part, bytes) else Pause(part) for part in parts)
    return Step("raw", beats, (Failed(fault, "the stream ended too early"),), status=status, headers=headers)
