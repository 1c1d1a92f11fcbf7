"""The little HTTP/1.1 that a scripted server needs: heads parsed, answers rendered. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus

from hermes_kernel.testing import wire
from hermes_kernel.testing.step import JSON, MARK, Count, Headers, Numbered, Soon, Step, frame

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
_MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "hermes-kernel"}]}


@dataclass(frozen=True, slots=True)
class Head:
    """A request line and its headers, names in lower case."""

    method: str
    path: str
    headers: dict[str, str]

    @property
    def length(self) -> int:
        """Bytes of the body."""
        return int(self.headers.get("content-length", "0"))

    @property
    def expects(self) -> bool:
        """The client waits for a go-ahead before it sends the body."""
        return self.headers.get("expect", "").lower() == "100-continue"

    @property
    def closes(self) -> bool:
        """The client wants no second request on this connection."""
        return self.headers.get("connection", "").lower() == "close"

    @property
    def asks_for_chat(self) -> bool:
        """A chat completion is asked for."""
        return self.method == "POST" and self.path.split("?")[0].endswith("/chat/completions")


def parsed(head: bytes) -> Head:
    """The head of a request, up to and with its blank line."""
    first, *lines = head.decode("latin-1").strip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    return Head(method, path, {name.strip().lower(): value.strip() for name, _, value in pairs})


def opening(step: Step, now: float) -> bytes:
    """Status line and headers of an answer; `now` in seconds since 1970."""
    length = sum(len(beat) for beat in step.beats if isinstance(beat, bytes))
    framing = ("transfer-encoding", "chunked") if step.chunked else ("content-length", str(length))
    return _opening(step.status, (*step.headers, framing), now)


def rendered(beat: bytes | Numbered | Count, number: int, body: bytes) -> bytes:
    """The bytes of a beat in the answer to request `number`, which had this `body`."""
    match beat:
        case Numbered(template):
            return frame(template.replace(MARK, b"%d" % number))
        case Count():
            return frame(wire.counted(beat, body))
        case _:
            return beat


def page(head: Head) -> bytes:
    """The answer to anything but a chat: the list of models, or a 404."""
    found = head.path.split("?")[0].rstrip("/").endswith("/models")
    missing = {"error": {"message": f"{head.method} {head.path}: this scripted server has no such page", "code": 404}}
    text = json.dumps(_MODELS if found else missing).encode()
    return _opening(200 if found else 404, (*JSON, ("content-length", str(len(text)))), 0.0) + text


def _opening(code: int, headers: Headers, now: float) -> bytes:
    known = HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else "Unknown"
    lines = [f"HTTP/1.1 {code} {known}", *(f"{name}: {_value(value, now)}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _value(value: str | Soon, now: float) -> str:
    return formatdate(now + value.seconds, usegmt=True) if isinstance(value, Soon) else value
