"""How much of the body of an answer is read: so many bytes of what it unpacks to, for packed it may be tiny.

Kept apart because `httpx2` takes long to import.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx2


def bound(response: httpx2.Response, most: int, beyond: Exception | None = None) -> None:
    """Let the body of `response`, of which nothing was read yet, end after `most` bytes: quietly, so that what was read
    can be told, or in the error `beyond`."""
    whole = httpx2.Response(
        response.status_code, headers=response.headers, stream=response.stream, request=response.request
    )
    response.headers.pop("content-encoding", None)  # what is read is unpacked already
    response.stream = _Bounded(whole, most, beyond)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, whole: httpx2.Response, most: int, beyond: Exception | None) -> None:
        self._whole = whole
        self._most = most
        self._beyond = beyond

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async with aclosing(self._whole.aiter_bytes()) as pieces:
            async for piece in pieces:
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    break
        if left <= 0 and self._beyond:
            raise self._beyond

    async def aclose(self) -> None:
        await self._whole.aclose()
