"""A cassette as lines of JSON, which `reading` reads.

An exchange is several lines: its request, the beginning of the answer, each block, the end with all pauses, which are
others each time. A request that goes on from an earlier one holds only the messages that are new. No line depends on
what comes after it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_kernel.core.recording.cassette import Block, Called, Exchange, Head, Request, digests
from hermes_kernel.core.text import as_json

_TELLING = ("content-type", "retry-after", "x-ratelimit-")
"""How the headers begin that say something of an answer."""


@dataclass(slots=True)
class Known:
    """Which requests a file holds: the key of the first one for each row of messages."""

    keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, exchanges: tuple[Exchange, ...]) -> Known:
        """Those of a cassette that was read."""
        known = cls()
        for exchange in exchanges:
            known.add(exchange.request)
        return known

    def add(self, request: Request) -> None:
        """One more was written."""
        self.keys.setdefault(request.digest, request.key)

    def before(self, request: Request) -> tuple[str, int]:
        """The key of the longest one that `request` continues, and how many messages they share."""
        rows = list(digests(request.messages))
        found = ((self.keys[row], n) for n, row in reversed(list(enumerate(rows, 1))) if row in self.keys)
        return next(found, ("", 0))


def telling(headers: Mapping[str, str]) -> dict[str, str]:
    """Those of an answer's headers that are kept, by name."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: lower[name] for name in sorted(lower) if name.startswith(_TELLING)}


def head_lines(head: Head) -> str:
    """The first line of a file."""
    return _line({"cassette": head.format, "version": head.version, "settings": dict(sorted(head.settings.items()))})


def exchange_lines(exchange: Exchange, known: Known) -> str:
    """The lines of an exchange. Afterwards it is `known`."""
    request = exchange.request
    after, shared = known.before(request)
    known.add(request)
    asked = {"request": request.key} | ({"after": after} if after else {})
    ended: dict[str, Any] = {"end": exchange.cause.value} | ({"message": exchange.message} if exchange.message else {})
    gaps = [_milliseconds(gap) for gap in (*(block.gap for block in exchange.blocks), exchange.gap)]
    lines = [
        asked | {"tools": request.tools, "messages": list(request.messages[shared:])},
        {"status": exchange.status, "headers": telling(exchange.headers)},
        *map(_block, exchange.blocks),
        ended | {"gaps": gaps},
    ]
    return "".join(map(_line, lines))


def called_lines(called: Called) -> str:
    """The line of a call."""
    images = [{"mime": image.mime, "data": image.data} for image in called.images]
    found_by = {"call": called.name, "arguments": called.arguments} | ({"id": called.id} if called.id else {})
    lent = {"lent": True} if called.lent else {}
    return _line(found_by | lent | {"ok": called.ok, "text": called.text} | ({"images": images} if images else {}))


def _block(block: Block) -> dict[str, Any]:
    try:
        return {"text": block.data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(block.data).decode("ascii")}


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _line(value: Mapping[str, Any]) -> str:
    return as_json(value) + "\n"
