"""One server's life: started, listed, called, started once more when it has died, given up when it dies again soon.

Everything here runs on the one loop of `servers`; ``state`` alone is read from elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.redact import redact
from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.described import Described, WrongServer
from hermes_kernel.world.mcp.ending import Ending
from hermes_kernel.world.mcp.offering import Call, offered
from hermes_kernel.world.mcp.state import Phase, State
from hermes_kernel.world.tools.results import Result, ToolError

if TYPE_CHECKING:
    from hermes_kernel.world.mcp.session import Connection, Progress

AGAIN_SECONDS = 300.0  # after a death in which another one is not forgiven
CALL_SECONDS = 15.0  # that a call waits for a server which is being started
CHANGE_SECONDS = 1.0  # between two looks at tools that keep changing
MISSING = 'MCP needs a package: pip install "hermes-kernel[mcp]"'


class Life:
    """One server. ``call`` is what its tools do, on whatever loop a turn runs; ``elapsed`` tells seconds."""

    def __init__(
        self, server: Described, call: Call, folder: Callable[[], Path], elapsed: Callable[[], float], wrong: str = ""
    ) -> None:
        phase = Phase.OFF if server.disabled else Phase.NOT_STARTED
        self.server = server
        self.wrong = wrong
        self.state = State(server.name, server.how, Phase.FAILED if wrong else phase, wrong)
        self.secrets = server.secrets
        self.settled = asyncio.Event()  # ready, or given up
        self._call = call
        self._folder = folder
        self._elapsed = elapsed
        self._connection: Connection | None = None
        self._ending = Ending()
        self._began: float | None = None
        self._died: float | None = None

    def is_that(self, server: Described, wrong: str) -> bool:
        """Whether it is the life of the server that is described so."""
        return (self.server, self.wrong) == (server, wrong)

    async def live(self, environ: Mapping[str, str], start_seconds: float) -> None:
        """From the first start to the day it is given up; a start may take `start_seconds`. Cancelled, it ends the
        server and returns."""
        self._began = self._elapsed()
        self._set(Phase.STARTING)
        try:
            if find_spec("mcp") is None:
                return self._give_up(MISSING)
            server, _ = self.server.filled(environ)
            while True:
                was_ready, why = await self._once(server, start_seconds)
                if not was_ready or self._died_lately():
                    return self._give_up(why)
                self._set(Phase.STARTING, why, self.state.tools)
        except WrongServer as error:
            self._give_up(str(error))
        finally:
            self._connection = None
            self.settled.set()

    def ended(self, task: asyncio.Task[None]) -> None:
        """Called when `live` is over. What ended it there but a server's trouble is a bug of ours: it is raised, and
        costs this server alone."""
        bug = None if task.cancelled() else task.exception()
        if bug is not None:
            self._give_up(f"{type(bug).__name__}: {bug}")
            raise bug

    async def settled_by(self, seconds: float) -> None:
        """Return once it is ready or given up, or `seconds` after its first start."""
        if self.state.phase in (Phase.NOT_STARTED, Phase.STARTING):
            since = 0.0 if self._began is None else self._elapsed() - self._began
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.settled.wait(), max(seconds - since, 0))

    def kill(self) -> None:
        """End its process, if it has one, from any thread and at once."""
        self._ending.kill()

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Result:
        """What the server answers.

        Raises:
            ToolError: it is not running, or ended before it had answered.
        """
        from hermes_kernel.world.mcp.session import Gone

        connection = await self._connected()
        try:
            return await connection.call(tool, arguments, progress)
        except Gone as gone:
            self._let_go(connection)
            raise ToolError(self.safe(
                f"The MCP server {self.server.name!r} was lost during the call: {gone}. What the call has done is not "
                "known; look before you do it again. A server that is lost is started once more."
            )) from None  # fmt: skip

    def _let_go(self, connection: Connection) -> None:
        """Whoever comes next waits for another one."""
        if self._connection is connection:
            self._connection = None
            self.settled.clear()

    async def _connected(self) -> Connection:
        if self._connection is not None and self._connection.ended:
            self._let_go(self._connection)
        try:
            await asyncio.wait_for(self.settled.wait(), CALL_SECONDS)
        except TimeoutError:
            raise ToolError(f"The MCP server {self.server.name!r} is still being started; try again later.") from None
        if self._connection is None:
            raise ToolError(
                f"The MCP server {self.server.name!r} is not running: {self.state.why or 'it was stopped'}. "
                f"A person can start it again: mcp restart {self.server.name}."
            )
        return self._connection

    async def _once(self, server: Described, seconds: float) -> tuple[bool, str]:
        """One connection from its beginning to its end: whether it came to be ready, and why it ended."""
        from hermes_kernel.world.mcp.session import TROUBLE, connected, reason

        ending = self._ending = Ending()
        ready = False
        try:
            async with (
                asyncio.timeout(seconds) as limit,
                connected(server, self._folder(), ending, self.safe) as connection,
            ):
                await self._list(connection)
                limit.reschedule(None)
                ready = True
                self._connection = connection
                self.settled.set()
                await self._serve(connection, ending)
        except TimeoutError:
            ending.come(f"it did not answer within {seconds:g} s")
        except TROUBLE as error:
            ending.come(reason(error, self.safe))
        finally:
            self._connection = None
            self.settled.clear()
        return ready, ending.words

    async def _serve(self, connection: Connection, ending: Ending) -> None:
        while not ending.reached.is_set():
            await connection.over()
            if connection.changed.is_set() and not ending.reached.is_set():
                await asyncio.sleep(CHANGE_SECONDS)
                connection.changed.clear()
                await self._list(connection)

    async def _list(self, connection: Connection) -> None:
        listed = await connection.listed()
        made = offered(self.server, listed.tools, self._call, self.safe, more=listed.more)
        for line in listed.wrong:
            made.without(line)
        self.state = replace(self.state, phase=Phase.READY, why="", tools=made.tools, left_out=tuple(made.left_out))

    def _died_lately(self) -> bool:
        now, before = self._elapsed(), self._died
        self._died = now
        return before is not None and now - before < AGAIN_SECONDS

    def _give_up(self, why: str) -> None:
        self._set(Phase.FAILED, why, self.state.tools)

    def _set(self, phase: Phase, why: str = "", tools: Mapping[str, Any] | None = None) -> None:
        self.state = replace(self.state, phase=phase, why=brief(self.safe(why), 500), tools=tools or {})

    def safe(self, text: str) -> str:
        """`text` without what is secret of this server."""
        return redact(text, self.secrets)
