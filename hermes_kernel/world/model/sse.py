"""Server-sent events from raw bytes, however they were cut; one `json.loads` an event and no object in between.

More tolerant than the standard where servers are: events without a blank line between them, old llama-server's
``error:`` lines, and bodies that are no event stream at all, which are kept aside to be looked at when it ends.
"""

from __future__ import annotations

import json
from typing import Any

from hermes_kernel.core.json_state import Nesting, is_deep

_MOST_STRAY = 1_000_000
"""Bytes that are kept of a body that is no event stream, to find out what it says."""


_MOST_LINE = 64_000_000
"""Bytes of one line. No reply is so long; a server that never ends a line must not fill the memory."""

_MOST_AGAIN = 64_000_000
"""Bytes that are kept, or looked at again, because a value goes on over lines; what is larger is no value."""

_decode = json.JSONDecoder().raw_decode


class EventStream:
    """Feed it blocks of bytes; it gives the JSON values of the events in them.

    ``done`` after ``[DONE]``; ``broken`` after an event that is no JSON, where reading ends; ``events`` counts those
    that were; ``stray`` is what belongs to no event.
    """

    def __init__(self) -> None:
        self.done = False
        self.broken = False
        self.events = 0
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._nesting = Nesting()
        self._again = 0
        self._stray: list[bytes] = []
        self._stray_size = 0

    @property
    def unread(self) -> int:
        """Bytes of what may become an event or a whole body, as far as they are kept or looked at again."""
        return self._stray_size + self._again + (0 if self._rest[:1] == b":" else len(self._rest))

    @property
    def stray(self) -> str:
        """The body, if it was no event stream."""
        return b"\n".join(self._stray).decode("utf-8", "replace").strip()

    def feed(self, block: bytes) -> list[Any]:
        """The events that `block` completes."""
        *lines, last = (b"" if self.broken else block).split(b"\n")
        if lines and self._rest:
            lines[0] = bytes(self._rest + lines[0])
            self._rest.clear()
        self._leave(last)
        values: list[Any] = []
        for line in lines:
            if line[:5] == b"data:":
                self._datum(line[5:], values)
            elif line or self._data:
                self._line(line.rstrip(b"\r"), values)
            if self.broken:
                break
        self.events += len(values)
        return values

    def close(self) -> list[Any]:
        """The body has ended: the last line may lack its newline, the last event its blank line."""
        return self.feed(b"\n\n") if self._rest or self._data else []

    def _leave(self, last: bytes) -> None:
        """The beginning of a line, of which there is more to come."""
        self._rest += last
        if len(self._rest) > _MOST_LINE:
            self.broken = True
            self._rest.clear()

    def _line(self, line: bytes, values: list[Any]) -> None:
        """A line that carries no data of an event, or that ends one."""
        if not line:
            self.broken = self.broken or bool(self._data)
            self._data.clear()
        elif line[:6] == b"error:":
            self._datum(b'{"error":' + line[6:] + b"}", values)
        elif line[:1] != b":" and not line.startswith((b"event:", b"id:", b"retry:")):
            self._keep(line)

    def _datum(self, data: bytes, values: list[Any]) -> None:
        """One ``data:`` line. A value may be spread over several; most are not."""
        if self._data:
            self._data.append(data)
            self._nesting.feed(data.decode("utf-8", "replace"))
            if self._nesting.depth > 0:
                self._spend(data)
                return
            data = b"\n".join(self._data)
            self._spend(data)
        try:
            text = data.decode().strip()
            value, end = _decode(text)
        except (ValueError, RecursionError):
            text, value, end = "", None, -1
        if end == len(text) and not is_deep(text):
            values.append(value)
            self._data.clear()
        else:
            self._unreadable(data, values)

    def _spend(self, data: bytes) -> None:
        self._again += len(data)
        self.broken = self._again > _MOST_AGAIN

    def _unreadable(self, data: bytes, values: list[Any]) -> None:
        word = data.strip()
        if word == b"[DONE]":
            self.done = True
        elif word:
            text = data.decode("utf-8", "replace")
            if not self._data:
                self._nesting = Nesting()
                self._nesting.feed(text)
            self._data[:] = [data]
            try:
                value = json.loads(text)
                if not is_deep(text):
                    values.append(value)
                    self._data.clear()
            except (ValueError, RecursionError):
                pass  # the rest may be on the next line

    def _keep(self, line: bytes) -> None:
        if self._stray_size < _MOST_STRAY:
            self._stray.append(line)
            self._stray_size += len(line)
