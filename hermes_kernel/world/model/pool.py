"""The real wire: a client for each endpoint and event loop, closed with it. What it imports takes a second or two."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from hermes_kernel.core.trouble import Trouble
from hermes_kernel.core.windows import Window
from hermes_kernel.world.model.connection import Connection, NoConnection
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.model.windows import listed

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

NO_KEY = "none"
REFUSAL = 1_000_000
"""Bytes that are read of a refusal or a way to elsewhere: its beginning, which says why. The longest seen, pages for a
browser, have some thousands."""
_CLOSING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Client:
    """A client, and the generator that closes it: by our word, or when its loop shuts down."""

    client: AsyncOpenAI
    keeper: AsyncGenerator[None, None]


class Pool:
    """Keeps `wire.Wire`, with one long-lived client for each endpoint and event loop: connections are kept and never
    cross loops."""

    alone = False

    def __init__(self, connect_seconds: float) -> None:
        self._connect_seconds = connect_seconds
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Route, _Client]] = WeakKeyDictionary()

    def warm(self) -> None:
        import httpx2  # noqa: F401
        from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient  # noqa: F401

    async def open(self, route: Route, body: bytes, ring: Callable[[], None]) -> Connection | NoConnection:
        try:
            client = await self._client(route)
        except ValueError as error:
            return NoConnection(Trouble(status=404, message=f"{route.endpoint} is no address: {error}"), ring)
        return Connection(client, body, ring)

    def window(self, route: Route) -> Window | None:
        return listed(route)

    def news(self) -> tuple[str, ...]:
        return ()

    async def _client(self, route: Route) -> AsyncOpenAI:
        """The client of `route` on the running loop.

        Raises:
            ValueError: its address is none.
        """
        kept = self._kept.setdefault(asyncio.get_running_loop(), {})
        if route not in kept:
            client = _new_client(route, self._connect_seconds)
            keeper = _keep(client)
            await anext(keeper)
            kept[route] = _Client(client, keeper)
        return kept[route].client

    async def aclose(self) -> None:
        await _close_all(self._kept.pop(asyncio.get_running_loop(), {}))

    def close(self) -> None:
        """Each is closed on its own loop; those of the running one end with it. A second at most."""
        kept, self._kept = self._kept, WeakKeyDictionary()
        for loop, clients in tuple(kept.items()):
            if loop.is_closed() or loop is _running():
                continue  # closed with the loop: at its shutdown the keepers are
            if loop.is_running():
                closing = asyncio.run_coroutine_threadsafe(_close_all(clients), loop)
                wait((closing,), _CLOSING_SECONDS)
            elif _running() is None:
                loop.run_until_complete(_close_all(clients))


async def _keep(client: AsyncOpenAI) -> AsyncGenerator[None, None]:
    """An event loop that shuts down in order closes its generators, and so this one's client."""
    try:
        yield
    finally:
        await client.close()


async def _close_all(clients: dict[Route, _Client]) -> None:
    for kept in clients.values():
        await kept.keeper.aclose()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _trust(route: Route) -> ssl.SSLContext | bool:
    """The usual certificates, which take 50 ms to load; none where no TLS is spoken, so that a redirect to it fails."""
    return route.base_url.startswith("https") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _new_client(route: Route, connect_seconds: float) -> AsyncOpenAI:
    import httpx2
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    from hermes_kernel.world.body import bound

    async def look(response: httpx2.Response) -> None:
        if not response.is_success:
            bound(response, REFUSAL)

    # The watchdog sees silence better than a socket timeout does, and a proxy has no business on this machine.
    timeout = httpx2.Timeout(None, connect=connect_seconds)
    try:
        http = DefaultAsyncHttpxClient(timeout=timeout, trust_env=not route.is_near, verify=_trust(route))
        http.event_hooks = {"response": [look]}
        return AsyncOpenAI(
            api_key=route.api_key or NO_KEY,
            base_url=route.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=http,
            default_headers=_headers(route),
        )
    except httpx2.InvalidURL as error:
        raise ValueError(str(error)) from None


def _headers(route: Route) -> dict[str, str]:
    """None of the organisation and project that the environment names for OpenAI, anywhere but there."""
    from openai import omit

    host = urlsplit(route.base_url).hostname or ""
    if host == "openai.com" or host.endswith(".openai.com"):
        return {}
    return cast("dict[str, str]", {"OpenAI-Organization": omit, "OpenAI-Project": omit})
