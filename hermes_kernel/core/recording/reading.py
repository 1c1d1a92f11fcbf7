"""The lines of a cassette read: a `Cassette`, or one complaint that names the line. Pure; linear in the text."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_kernel.core.messages import Image
from hermes_kernel.core.recording.cassette import FORMAT, Block, Called, Cassette, Exchange, Head, Request
from hermes_kernel.core.trouble import Cause

_MOST_SHARED = 5_000_000
"""Messages of all requests together, each counted as often as it is sent: a file that unfolds into more is no
recording."""
_CAUSES = {cause.value: cause for cause in Cause}


class Unreadable(ValueError):
    """No cassette: what is wrong in ``line``, the first being 1, and ``why``."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


class _WrongError(ValueError):
    """What is wrong in a line, whichever it is."""


class _NoJsonError(_WrongError):
    """The line is no JSON; the last one of a file, where it has no end, was being written."""


def read(content: str | bytes) -> Cassette:
    """What a file holds. What follows the last whole exchange is left out, and told by ``torn``.

    Raises:
        Unreadable: it is no cassette, or one of a later version.
    """
    taken = _Read()
    for number, line, unended in _lines(content):
        try:
            taken.take(number, _object(line))
        except _WrongError as wrong:
            if not (unended and isinstance(wrong, _NoJsonError)):
                raise Unreadable(number, str(wrong)) from None
            taken.torn = True
    return taken.cassette()


def _lines(content: str | bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Each line that says something, its number, and whether no end of it came."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line, number == len(lines)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise _NoJsonError("it is no line of JSON") from None
    if not isinstance(value, dict):
        raise _WrongError("it is no JSON object")
    return value


@dataclass(slots=True)
class _Open:
    """An exchange of which the end has not come."""

    line: int
    request: Request
    status: int = -1
    headers: Mapping[str, str] = field(default_factory=dict)
    blocks: list[bytes] = field(default_factory=list)


class _Read:
    """What was read so far."""

    def __init__(self) -> None:
        self.torn = False
        self._head: Head | None = None
        self._exchanges: list[Exchange] = []
        self._calls: list[Called] = []
        self._requests: dict[str, Request] = {}
        self._shared = 0
        self._open: _Open | None = None

    def cassette(self) -> Cassette:
        torn = self.torn or self._open is not None or self._head is None
        return Cassette(self._head or Head(), tuple(self._exchanges), tuple(self._calls), torn)

    def take(self, number: int, line: Mapping[str, Any]) -> None:
        if self._head is None:
            self._head = _head(line)
        elif self._open is None:
            self._begin(number, line)
        else:
            self._go_on(self._open, line)

    def _begin(self, number: int, line: Mapping[str, Any]) -> None:
        if "request" in line:
            self._open = _Open(number, self._request(line))
        elif "call" in line:
            self._calls.append(_called(line))
        else:
            raise _WrongError("neither a request nor a call begins here")

    def _request(self, line: Mapping[str, Any]) -> Request:
        key, after = _text(line, "request"), _text(line, "after", "")
        before = self._requests.get(after)
        if after and before is None:
            raise _WrongError("it goes on from a request that is not in the file")
        new = tuple(_message(item) for item in _list(line, "messages"))
        messages = (*before.messages, *new) if before else new
        self._shared += len(messages)
        if self._shared > _MOST_SHARED:
            raise _WrongError("its requests unfold into too many messages")
        request = Request(messages, _flag(line, "tools", default=False), before)
        self._requests.setdefault(key, request)
        return request

    def _go_on(self, begun: _Open, line: Mapping[str, Any]) -> None:
        if begun.status < 0:
            begun.status, begun.headers = _whole(line.get("status"), "status"), _headers(line)
        elif "end" in line:
            self._exchanges.append(_ended(begun, line))
            self._open = None
        elif "text" in line or "base64" in line:
            begun.blocks.append(_data(line))
        else:
            raise _WrongError(f"the answer to the request of line {begun.line} has no end before it")


def _head(line: Mapping[str, Any]) -> Head:
    version = line.get("cassette")
    if not isinstance(version, int) or isinstance(version, bool):
        raise _WrongError("no cassette begins here")
    if version > FORMAT:
        raise _WrongError(f"a later Hermes Kernel wrote it (format {version}; this one reads {FORMAT})")
    settings = line.get("settings", {})
    if not isinstance(settings, dict):
        raise _WrongError("its settings are none")
    return Head({name: _setting(value) for name, value in settings.items()}, _text(line, "version", ""), version)


def _setting(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if isinstance(value, str | int):
        return value
    raise _WrongError("a setting is neither a text, a number nor a list of texts")


def _message(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise _WrongError("a message is no object")
    message: dict[str, Any] = {"role": _text(item, "role"), "content": _text(item, "content")}
    if "images" in item:
        message["images"] = _texts(_list(item, "images"))
    if "calls" in item:
        message["calls"] = [_call(call) for call in _list(item, "calls")]
    if "call" in item:
        message["call"] = _text(item, "call")
    return message


def _call(item: Any) -> dict[str, str]:
    if not isinstance(item, dict):
        raise _WrongError("a call is no object")
    return {name: _text(item, name) for name in ("id", "name", "arguments")}


def _called(line: Mapping[str, Any]) -> Called:
    images = tuple(map(_image, _list(line, "images", [])))
    ok, lent = _flag(line, "ok", default=True), _flag(line, "lent", default=False)
    name, arguments, text = (_text(line, name) for name in ("call", "arguments", "text"))
    return Called(name, arguments, text, ok, images, _text(line, "id", ""), lent)


def _image(item: Any) -> Image:
    if not isinstance(item, dict):
        raise _WrongError("an image is no object")
    return Image(_text(item, "mime"), _text(item, "data"))


def _ended(begun: _Open, line: Mapping[str, Any]) -> Exchange:
    cause = _CAUSES.get(_text(line, "end"))
    if cause is None:
        raise _WrongError("it ends in a way that is not known")
    gaps = [_whole(gap, "a gap") / 1000 for gap in _list(line, "gaps")]
    if len(gaps) != len(begun.blocks) + 1:
        raise _WrongError("gaps are not one before each block and one before the end")
    blocks = tuple(map(Block, begun.blocks, gaps))
    return Exchange(begun.request, begun.status, begun.headers, blocks, cause, _text(line, "message", ""), gaps[-1])


def _data(line: Mapping[str, Any]) -> bytes:
    if "text" in line:
        return _text(line, "text").encode("utf-8", "replace")
    try:
        return base64.b64decode(_text(line, "base64"), validate=True)
    except ValueError:
        raise _WrongError("base64 is not base64") from None


def _headers(line: Mapping[str, Any]) -> dict[str, str]:
    headers = line.get("headers", {})
    if not isinstance(headers, dict):
        raise _WrongError("headers is no object")
    if not all(isinstance(value, str) for value in headers.values()):
        raise _WrongError("a header is no text")
    return headers


def _whole(value: Any, name: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**12:
        return value
    raise _WrongError(f"{name} is no whole number")


def _flag(line: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = line.get(name, default)
    if isinstance(value, bool):
        return value
    raise _WrongError(f"{name} is neither true nor false")


def _text(line: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = line.get(name, default)
    if isinstance(value, str):
        return value
    raise _WrongError(f"{name} is no text")


def _list(line: Mapping[str, Any], name: str, default: list[Any] | None = None) -> list[Any]:
    value = line.get(name, default)
    if isinstance(value, list):
        return value
    raise _WrongError(f"{name} is no list")


def _texts(items: list[Any]) -> list[str]:
    if all(isinstance(item, str) for item in items):
        return items
    raise _WrongError("what should be a list of texts is none")
