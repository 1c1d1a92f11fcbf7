"""What is read of an answer that is none, a refusal or a way to elsewhere: its beginning, which says why.

Kept apart because `httpx2` takes long to import.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx2

MOST = 1_000_000
"""Bytes of it, unpacked. The longest seen, pages for a browser, have some thousands."""


async def bound(response: httpx2.Response) -> None:
    """A hook of a client: looks at each answer before anything of its body is read."""
    if not response.is_success:
        whole = httpx2.Response(
            response.status_code, headers=response.headers, stream=response.stream, request=response.request
        )
        response.headers.pop("content-encoding", None)  # the beginning is unpacked already
        response.stream = _Beginning(whole)


class _Beginning(httpx2.AsyncByteStream):
    """The body of an answer; where it gets too long it ends quietly, so that what was read of it can be told."""

    def __init__(self, whole: httpx2.Response) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST
        async with aclosing(self._whole.aiter_bytes()) as pieces:
            async for piece in pieces:
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return

    async def aclose(self) -> None:
        await self._whole.aclose()
