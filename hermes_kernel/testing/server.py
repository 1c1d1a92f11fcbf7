"""A real OpenAI-compatible server on loopback that says exactly what its script says, and remembers what it was asked.

Runs on an asyncio loop of its own in a daemon thread. Knows HTTP/1.1, nothing of models.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from types import TracebackType
from typing import Any, Self

from hermes_kernel.testing import http11
from hermes_kernel.testing.script import Script
from hermes_kernel.testing.step import HangUp, Pause, Step

_HOUR = 3600.0
_DROP = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends a reset."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived. ``headers`` in lower case; ``body`` the JSON object, of ``size`` bytes; ``at`` in
    monotonic seconds; ``connection`` counts TCP connections from 1; ``closed_by_client`` is how many seconds after its
    arrival the client hung up before the answer was complete, or None."""

    number: int
    path: str
    headers: dict[str, str] = field(repr=False)
    body: dict[str, Any]
    at: float
    connection: int
    size: int
    closed_by_client: float | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What a chat request says."""
        return list(self.body.get("messages", ()))

    @property
    def results(self) -> list[str]:
        """What the tools answered that the model asked for last, in the order of its calls."""
        newest = takewhile(lambda message: message.get("role") == "tool", reversed(self.messages))
        return [_text(message.get("content")) for message in newest][::-1]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are offered."""
        return [each["function"]["name"] for each in self.body.get("tools", ())]


def _text(content: Any) -> str:
    """A message's text, whatever else is in it."""
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "".join(part.get("text", "") for part in parts)


class _HungUp(Exception):
    """The script closes the connection here."""


class Server:
    """``with Server([say("Hello.")]) as server: ...`` serves `server.url` until the block ends.

    `script` is a step, an iterable of steps (one a chat request) or a function from `Request` to a step; a `TypeError`
    where it is none of them. ``now`` is the present for HTTP dates, in seconds since 1970.
    """

    def __init__(
        self, script: Step | Iterable[Step] | Callable[[Request], Step], *, now: Callable[[], float] = time.time
    ) -> None:
        self._script = Script(script)
        self._now = now
        self._requests: list[Request] = []
        self._answering: set[int] = set()
        self._connections = 0
        self._change = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="scripted-server")
        self._ready = threading.Event()
        self._port = 0

    # --- what a test or a notebook uses -------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The base URL for a client, such as ``http://127.0.0.1:4711/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every chat request so far, in order of arrival."""
        with self._change:
            return tuple(self._requests)

    @property
    def waiting(self) -> int:
        """How many chat requests have arrived and are not yet answered to the end."""
        with self._change:
            return len(self._answering)

    @property
    def connections(self) -> int:
        """How many TCP connections were opened so far."""
        return self._connections

    @property
    def connected(self) -> int:
        """How many TCP connections are open at this moment."""
        return len(self._tasks)

    def await_requests(self, count: int, seconds: float = 10.0) -> bool:
        """Block until `count` chat requests have arrived, for at most so long; whether they have."""
        with self._change:
            return self._change.wait_for(lambda: len(self._requests) >= count, seconds)

    def await_idle(self, seconds: float = 10.0) -> bool:
        """Block until no chat request is being answered, for at most so long; whether that is so."""
        with self._change:
            return self._change.wait_for(lambda: not self._answering, seconds)

    def check(self) -> None:
        """Nothing, where the script was followed to its end.

        Raises:
            NotFollowed: steps were left over (one marked `forever` needs no request), or there were too few.
            Exception: what a script that is a function raised.
        """
        __tracebackhide__ = True
        self._script.check()

    def start(self) -> Self:
        """Listen; returns when connections are accepted."""
        self._thread.start()
        self._ready.wait()
        return self

    def stop(self) -> None:
        """Close everything; returns when the thread has ended. A second call does nothing."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Server {self.url} {len(self._requests)} requests>"

    # --- the loop in its thread ---------------------------------------------------------------------------------------

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        listener = self._loop.run_until_complete(asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26))
        self._port = listener.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._leave(listener))
        self._loop.close()

    async def _leave(self, listener: asyncio.Server) -> None:
        """Close every connection, also of a client that came at the last moment."""
        for socket_ in listener.sockets:
            self._loop.remove_reader(socket_.fileno())
        await asyncio.sleep(0)  # asyncio forgets a connection that is half made when its listener closes
        listener.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.wait(others, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        try:
            await self._converse(reader, writer, self._connections)
        except (_HungUp, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the conversation is over, by either side
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        early = b""
        while True:
            head = http11.parsed(early + await reader.readuntil(b"\r\n\r\n"))
            if head.expects:
                writer.write(http11.CONTINUE)
            body = await reader.readexactly(head.length)
            early = b""
            if head.asks_for_chat:
                early = await self._answer(self._record(head, body, connection), body, reader, writer)
            else:
                writer.write(http11.page(head))
            if head.closes:
                return

    def _record(self, head: http11.Head, body: bytes, connection: int) -> Request:
        parsed = json.loads(body or b"{}")
        with self._change:
            number = len(self._requests) + 1
            request = Request(number, head.path, head.headers, parsed, time.monotonic(), connection, len(body))
            self._requests.append(request)
            self._answering.add(number)
            self._change.notify_all()
        return request

    async def _answer(
        self, request: Request, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes:
        """Play the step while listening for the client to hang up; what the client sent meanwhile comes back."""
        play = asyncio.ensure_future(self._play(self._script.answer(request), request, body, writer))
        listen = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({play, listen}, return_when=asyncio.FIRST_COMPLETED)
            if not play.done() and not listen.result():
                raise ConnectionResetError
            await play
        except ConnectionError:
            self._hung_up(request)
            raise
        finally:
            play.cancel()
            listen.cancel()
            await asyncio.gather(play, listen, return_exceptions=True)
            self._answered(request)
        return b"" if listen.cancelled() else listen.result()

    def _hung_up(self, request: Request) -> None:
        with self._change:
            self._requests[request.number - 1] = replace(request, closed_by_client=time.monotonic() - request.at)

    def _answered(self, request: Request) -> None:
        with self._change:
            self._answering.discard(request.number)
            self._change.notify_all()

    async def _play(self, step: Step, request: Request, body: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(min(step.delay, _HOUR))
        if step.status:
            writer.write(http11.opening(step, self._now()))
        for beat in step.beats:
            match beat:
                case Pause(seconds):
                    await asyncio.sleep(min(seconds, _HOUR))
                case HangUp(reset):
                    await _hang_up(writer, reset=reset)
                case _:
                    writer.write(http11.rendered(beat, request.number, body))
                    await writer.drain()
        if step.status and step.chunked:
            writer.write(http11.LAST_CHUNK)
        await writer.drain()


async def _hang_up(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    await writer.drain()
    if reset:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP)
        writer.transport.abort()
    raise _HungUp
