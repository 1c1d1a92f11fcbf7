"""One connection to a server, from its greeting to its end: lists its tools, has them run. The one place that speaks
the protocol's language."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import ClientSession, MCPError, types
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import listen
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import ValidationError

from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.described import Described
from hermes_kernel.world.mcp.ending import Ending
from hermes_kernel.world.mcp.naming import seen
from hermes_kernel.world.mcp.offering import TOOLS
from hermes_kernel.world.mcp.pipes import piped
from hermes_kernel.world.mcp.results import result_of
from hermes_kernel.world.mcp.web import reached
from hermes_kernel.world.tools.results import Result

PAGES = 50  # of a list of tools; a list that goes round in circles has no end
LIST_SECONDS = 20.0
GONE_SECONDS = 0.5  # from the end of a connection until it is known why it ended
ERROR = 1_000  # characters of an error that a server words
LOST = ("Connection closed", "SSE stream")  # how `mcp` words that nobody is there; its code servers use for anything
NO_SESSION = "Session terminated"  # how `mcp` words that an HTTP server has forgotten us
MODERN = (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND)

Progress = Callable[[float, float | None, str], None]

for _name in ("mcp", "client"):  # what `mcp` has to say goes to whoever configured logging, and never into a notebook
    logging.getLogger(_name).addHandler(logging.NullHandler())


# `mcp` brings thousands of classes. To look for garbage among them once more when the process ends takes up to 0.8 s,
# in which a person waits for their kernel, and finds none.
atexit.register(gc.freeze)


class Gone(Exception):
    """The connection ended before the answer came. The text says why."""


TROUBLE = (OSError, RuntimeError, ValueError, ExceptionGroup, MCPError, Gone)
"""What a server, its process, its address or its answers can raise here; `reason` words it."""


@dataclass(slots=True)
class Listed:
    """The tools that a server lists, whether there are more, and a line about each that is none. Nothing that `safe`
    takes out is in a line."""

    safe: Callable[[str], str]
    tools: list[types.Tool] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    more: bool = False

    def take(self, tool: Any) -> None:
        """One more, if it is one."""
        try:
            self.tools.append(types.Tool.model_validate(tool, by_name=False))
        except ValidationError as error:
            name = tool.get("name") if isinstance(tool, dict) else None
            self.wrong.append(f"{brief(seen(str(name), 80, self.safe), 80)} is left out: {_first(error, self.safe)}")


class Connection:
    """A server that has greeted us. ``changed`` is set when it says that its tools are others now."""

    def __init__(
        self,
        session: ClientSession,
        wire: JSONRPCDispatcher[Any],
        ending: Ending,
        changed: asyncio.Event,
        safe: Callable[[str], str],
    ) -> None:
        self.changed = changed
        self._session = session
        self._wire = wire
        self._ending = ending
        self._safe = safe

    async def listed(self) -> Listed:
        """The tools that it says it has, as many as are taken.

        Raises:
            Gone, MCPError, ValidationError: it does not say.
        """
        capabilities = self._session.server_capabilities
        if capabilities is None or capabilities.tools is None:
            return Listed(self._safe)
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await self._pages()
        except TimeoutError:
            raise Gone(f"it did not list its tools within {LIST_SECONDS:g} s") from None

    async def _pages(self) -> Listed:
        listed = Listed(self._safe)
        cursor, met = "", set[str]()
        for _ in range(PAGES):
            cursor = await self._page(cursor, listed)
            if not cursor:
                return listed
            if cursor in met or len(listed.tools) > TOOLS:
                break
            met.add(cursor)
        listed.more = True
        return listed

    async def _page(self, cursor: str, listed: Listed) -> str:
        """One page; where the next begins. The session refuses a whole page for one tool that breaks the protocol, so
        the page is taken from the wire where that can be asked without it."""
        if self._session.initialize_result is None:
            page = await self._session.list_tools(params=types.PaginatedRequestParams(cursor=cursor or None))
            listed.tools += page.tools
            return page.next_cursor or ""
        raw = await self._wire.send_raw_request("tools/list", {"cursor": cursor} if cursor else None)
        tools, following = raw.get("tools"), raw.get("nextCursor")
        for tool in tools if isinstance(tools, list) else ():
            listed.take(tool)
        return following if isinstance(following, str) else ""

    async def call(self, tool: str, arguments: Mapping[str, Any], told: Progress) -> Result:
        """What it answers. Cancelled, it is told so. What its own schema says of its answer is not looked at: a pattern
        in one can take a regular expression hours.

        Raises:
            Gone: there is no answer, and none will come.
        """

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told(progress, total, message or "")

        asked = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=dict(arguments)))
        try:
            answer = await self._session.send_request(asked, types.CallToolResult, progress_callback=hear)
            return result_of(answer, self._safe)
        except MCPError as error:
            if not _is_lost(error) and error.message != NO_SESSION:
                return Result(f"The server refused: {seen(error.message, ERROR, self._safe)}", ok=False)
            await self._gone(error.message)
            raise Gone(self._ending.words) from None
        except ValidationError as error:
            return Result(f"The server's answer breaks the protocol: {_first(error, self._safe)}", ok=False)

    async def _gone(self, why: str) -> None:
        """Wait a moment for the reason, for an answer's end is noticed before a process's."""
        try:
            await asyncio.wait_for(self._ending.reached.wait(), GONE_SECONDS)
        except TimeoutError:
            self._ending.come(brief(seen(why, ERROR, self._safe), 200))

    @property
    def ended(self) -> bool:
        """There is nobody there any more."""
        return self._ending.reached.is_set()

    async def over(self) -> None:
        """Return when the connection has ended or the tools have changed."""
        waits = [asyncio.ensure_future(each.wait()) for each in (self._ending.reached, self.changed)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()


@asynccontextmanager
async def connected(
    server: Described, folder: Path, ending: Ending, safe: Callable[[str], str]
) -> AsyncGenerator[Connection, None]:
    """A connection to `server`, which is told that we work in `folder`, and which may ask us for nothing else. Nothing
    that `safe` takes out is in what is told of it.

    Raises:
        One of `TROUBLE`: there is none, or it broke.
    """
    changed = asyncio.Event()

    async def hear(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:  # noqa: ARG001 - `mcp` calls it so
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": folder.as_uri(), "name": folder.name})])

    transport = piped(server, ending) if server.command else reached(server, ending)
    async with (
        transport as (read, write),
        ClientSession(
            dispatcher=(wire := JSONRPCDispatcher[Any](read, write)), message_handler=hear, list_roots_callback=roots,
            client_info=types.Implementation(name="hermes-kernel", version="1"),
        ) as session,
    ):  # fmt: skip
        await _greet(session)
        news = asyncio.create_task(_news(session, changed))
        try:
            yield Connection(session, wire, ending, changed, safe)
        finally:
            news.cancel()


async def _news(session: ClientSession, changed: asyncio.Event) -> None:
    """Ask to be told of changes, as the newest revision wants it; one that will not tell keeps the tools it began with.
    Servers of earlier revisions tell without being asked."""
    if session.discover_result is None:
        return
    with contextlib.suppress(*TROUBLE):
        async with listen(session, tools_list_changed=True) as told:
            async for _ in told:
                changed.set()


async def _greet(session: ClientSession) -> None:
    """By the handshake that every server in use knows; where one is too new for it, by the newer one."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in MODERN:
            raise
        await session.discover()


def reason(error: BaseException, safe: Callable[[str], str]) -> str:
    """Why there is no connection, in a line, with nothing in it that `safe` takes out."""
    match error:
        case BaseExceptionGroup():
            return reason(error.exceptions[0], safe)
        case MCPError() if _is_lost(error):
            return "it ended before it had answered"
        case MCPError():
            return f"it refused: {brief(seen(error.message, ERROR, safe), 200)}"
        case ValidationError():
            return f"its answer breaks the protocol: {_first(error, safe)}"
        case OSError() if error.strerror:
            return f"it cannot be started: {error.strerror}"
    return brief(seen(str(error), ERROR, safe), 200) or type(error).__name__


def _is_lost(error: MCPError) -> bool:
    return error.code == types.CONNECTION_CLOSED and error.message.startswith(LOST)


def _first(error: ValidationError, safe: Callable[[str], str]) -> str:
    found = error.errors(include_url=False, include_input=False)
    where = ".".join(map(str, found[0]["loc"])) if found else ""
    return brief(seen(f"{where}: {found[0]['msg']}" if found else str(error), ERROR, safe), 160)
