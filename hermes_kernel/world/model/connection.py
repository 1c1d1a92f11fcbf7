"""One request over one connection, read by a task of its own into a queue. Closing it really closes the socket.

The `openai` client is used lean: the body is bytes that are sent as they are, the answer is bytes that are read as they
come. It retries nothing; that is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from hermes_kernel.core.trouble import Cause, Trouble, read_trouble

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_CLOSING_SECONDS = 0.05
_MOST_BLOCKS = 64
"""Blocks that are read ahead of the consumer; then the server has to wait, as TCP would have it."""


class Connection:
    """Keeps `wire.Talk` over a socket."""

    def __init__(self, client: AsyncOpenAI, body: bytes, ring: Callable[[], None]) -> None:
        self.headers: dict[str, str] = {}
        self.status = 0
        self.trouble: Trouble | None = None
        self.refusal = ""
        self._over = False
        self._blocks: list[bytes] = []
        self._ring = ring
        self._room = asyncio.Event()
        self._room.set()
        self._task = asyncio.ensure_future(self._read(client, body))
        self._task.add_done_callback(self._done)

    @property
    def ended(self) -> bool:
        return self._over and not self._blocks

    def take(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        self._room.set()
        return b"".join(blocks)

    def check(self) -> None:
        if self._task.done() and not self._task.cancelled() and (error := self._task.exception()):
            raise error

    def settle(self, trouble: Trouble | None) -> None:
        pass

    async def close(self) -> None:
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSING_SECONDS)

    def _done(self, _: asyncio.Task[None]) -> None:
        self._over = True
        self._ring()

    async def _read(self, client: AsyncOpenAI, body: bytes) -> None:
        import httpx2
        import openai

        try:
            await self._exchange(client, body)
        except openai.APIStatusError as error:
            self._refused(error.response)
        except openai.APITimeoutError:
            self.trouble = Trouble(Cause.FIRST_BYTE, message="no connection could be made in time")
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self.trouble = _broken(error, begun=self.status > 0)

    async def _exchange(self, client: AsyncOpenAI, body: bytes) -> None:
        response = await _post(client, body)
        try:
            self.headers = {name.lower(): value for name, value in response.headers.items()}
            self.status = response.status_code
            self._ring()
            async for block in response.aiter_bytes():
                self._blocks.append(block)
                self._ring()
                if len(self._blocks) >= _MOST_BLOCKS:
                    self._room.clear()
                    await self._room.wait()
        finally:
            await response.aclose()

    def _refused(self, response: httpx2.Response) -> None:
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self.refusal = response.text
        self.trouble = read_trouble(self.refusal, response.status_code)


class NoConnection:
    """Keeps `wire.Talk` where no request can go out: ``trouble`` says why."""

    ended = True
    status = 0

    def __init__(self, trouble: Trouble, ring: Callable[[], None]) -> None:
        self.headers: dict[str, str] = {}
        self.trouble: Trouble | None = trouble
        self.refusal = trouble.message
        ring()

    def take(self) -> bytes:
        return b""

    def check(self) -> None:
        pass

    def settle(self, trouble: Trouble | None) -> None:
        pass

    async def close(self) -> None:
        pass


async def _post(client: AsyncOpenAI, body: bytes) -> httpx2.Response:
    import httpx2
    from openai import AsyncStream

    response: object = await client.post(
        "/chat/completions",
        cast_to=httpx2.Response,  # asked for this, the client hands the answer over unread
        content=body,
        options={"headers": {"Accept": "text/event-stream, application/json"}},
        stream=True,
        stream_cls=AsyncStream[object],
    )
    return cast("httpx2.Response", response)


def _broken(error: Exception, *, begun: bool) -> Trouble:
    """What a failure of the network was, in words that name the end of its chain of causes."""
    chain = list(_causes(error))
    words = next((str(cause) for cause in reversed(chain) if str(cause)), type(error).__name__)
    if any(isinstance(cause, ssl.SSLError) for cause in chain) or "CERTIFICATE" in words.upper():
        return Trouble(Cause.SSL, message=f"no trusted connection: {words}")
    refused = any(type(cause).__name__ in ("ConnectError", "UnsupportedProtocol") for cause in chain)
    if refused:
        return Trouble(Cause.CONNECT, message=f"nobody answers there: {words}")
    when = "in the middle of the answer" if begun else "before an answer"
    return Trouble(Cause.DISCONNECT, message=f"the connection was closed {when}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
