"""A server at an address, spoken to over streamable HTTP: `mcp`'s own transport, with a bound on what it reads."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

from hermes_kernel.ranges import near
from hermes_kernel.world.body import bound
from hermes_kernel.world.mcp.described import Described
from hermes_kernel.world.mcp.ending import Ending
from hermes_kernel.world.mcp.lines import LONGEST

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CONNECT_SECONDS = 10.0
SIGN_IN = "it wants to be signed in to: give its token as a header"


@asynccontextmanager
async def reached(server: Described, ending: Ending) -> AsyncGenerator[TransportStreams, None]:
    """The messages from and to the address of `server`. How long an answer may take is its caller's business."""

    async def look(response: httpx2.Response) -> None:
        _look(response, ending)

    async with (
        httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **server.headers},
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
            trust_env=not near(server.url),  # a proxy has no business on this machine
            event_hooks={"response": [look]},
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LONGEST) as streams,
    ):
        yield streams


def _look(response: httpx2.Response, ending: Ending) -> None:
    """Bound the body, and remember what the server says of itself where it refuses."""
    if response.request.method == "POST":
        ending.status = _refusal(response) if response.is_error else ""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return  # each event has its own bound
    too_long = httpx2.StreamError(f"the answer has more than {LONGEST:,} bytes")
    bound(response, LONGEST + 1, too_long)


def _refusal(response: httpx2.Response) -> str:
    wants_key = response.status_code in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN)
    return f"HTTP {response.status_code}: {SIGN_IN if wants_key else response.reason_phrase}"
