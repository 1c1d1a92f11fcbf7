"""A stream of bytes as lines of bounded length. One that is too long is let go of as it comes, but for its two ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 16_000_000  # bytes: three of the largest pictures that a model is shown
ENDS = 400  # bytes of either end of a line that is too long
ID_FIRST = re.compile(rb'^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*,')
ID_LAST = re.compile(rb'[}\]"]\s*,(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')


@dataclass(frozen=True, slots=True)
class TooLong:
    """What is left of a line of ``size`` bytes."""

    size: int
    head: bytes
    tail: bytes

    @property
    def answers(self) -> int | None:
        """The number of the request that it answers, where either end tells; JSON's writers put it first or last."""
        found = ID_FIRST.search(self.head) or ID_LAST.search(self.tail)
        return int(found[1]) if found else None


class Lines:
    """Takes pieces, gives lines."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._held = bytearray()
        self._head = b""
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in `data`."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._take(piece)
            yield self._line()
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        self._held += piece
        if self._size > self._longest:
            self._head = self._head or bytes(self._held[:ENDS])
            del self._held[:-ENDS]

    def _line(self) -> bytes | TooLong:
        held, size, head = bytes(self._held), self._size, self._head
        self._held, self._size, self._head = bytearray(), 0, b""
        return TooLong(size, head, held) if size > self._longest else held
