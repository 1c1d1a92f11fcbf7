"""`Servers`: all MCP servers of one agent, as one source of tools. They start in the background, and no turn, no stop
and no exit waits for one longer than it says here."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.events import Noticed
from hermes_kernel.core.text import brief
from hermes_kernel.world.loop_thread import Closed, LoopThread
from hermes_kernel.world.mcp.described import Described, WrongServer
from hermes_kernel.world.mcp.roster import Roster
from hermes_kernel.world.mcp.state import Phase, State
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop, Stopped
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.tool import Tool

if TYPE_CHECKING:
    from hermes_kernel.world.mcp.life import Life

WAIT_SECONDS = 5.0  # that a turn waits for servers which are starting: a program in Python or Node takes 1 to 3
START_SECONDS = 60.0  # until a server greets; `npx` and `uvx` download what they run first
CLOSE_SECONDS = 0.75  # for all servers to end, side by side


class Servers:
    """The servers named in the settings (``tables``) and in the home's ``mcp.json``. ``folder`` is where work is done.

    A server that is described wrongly is failed from the start, and costs no other.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what servers need of their agent, and two of the world that tests set
        self, home: Path, tables: Mapping[str, Any], folder: Callable[[], Path], clock: Clock,
        environ: Mapping[str, str] = os.environ, start_seconds: float = START_SECONDS,
    ) -> None:  # fmt: skip
        self.roster = Roster(home, tables)
        self._folder = folder
        self._clock = clock
        self._environ = environ
        self._start_seconds = start_seconds
        self._thread = LoopThread("hermes-mcp")
        self._lives: dict[str, Life] = {}
        self._tasks: dict[Life, asyncio.Task[None]] = {}
        self._lock = threading.RLock()
        self._told: set[tuple[str, str]] = set()
        self._names: dict[tuple[str, str], str] = {}  # once given to a tool, a name is never another's

    # --- before and during turns

    def begin(self) -> None:
        """Look what servers there are to be, and see to it that they are started. Returns at once."""
        self._look()
        lives = tuple(self._lives.values())
        strays = any(life not in lives for life in tuple(self._tasks))
        if strays or any(life.state.phase is Phase.NOT_STARTED for life in lives):
            with contextlib.suppress(Closed):
                self._thread.submit(self._start())

    async def ready(self, stop: Stop) -> AsyncGenerator[Noticed, None]:
        """`begin`, and wait a little for those that are starting; a line for each that failed, once."""
        self.begin()
        if self._thread.begun:
            with contextlib.suppress(Stopped, Closed):
                await stop.race(self._thread.run(self._settled(WAIT_SECONDS)))
        for line in self._news():
            yield Noticed(line)

    def offered(self) -> tuple[Tool, ...]:
        """The tools that may be shown to a model now, in the order of their servers."""
        return tuple(tool for state, tool in self._named() if state.offers)

    def known(self) -> tuple[Tool, ...]:
        """These and those of servers that are down: a call of one is answered by what happened to its server."""
        return tuple(tool for _, tool in self._named())

    @property
    def secrets(self) -> frozenset[str]:
        """Values that nobody may see, also before a server that has them is started."""
        self._look()
        return frozenset().union(*(life.secrets for life in tuple(self._lives.values())))

    # --- what a person does

    def states(self) -> tuple[State, ...]:
        """How each server is."""
        self._look()
        return tuple(life.state for life in self._lives.values())

    def state(self, name: str) -> State:
        """How one server is.

        Raises:
            WrongServer: there is no such server.
        """
        self._look()
        return self._life(name).state

    def settle(self, seconds: float = WAIT_SECONDS) -> None:
        """Wait, so long at most, until every server that is starting is ready or given up. For plain code."""
        with contextlib.suppress(Closed):
            if self._thread.begun:
                wait((self._thread.submit(self._settled(seconds)),), seconds)

    def add(self, name: str, table: Mapping[str, Any]) -> State:
        """Write a server into ``mcp.json`` and start it.

        Raises:
            WrongServer: it is none, the settings have one of that name, or the file cannot be written.
        """
        self.roster.add(name, table)
        self.begin()
        return self._life(name).state

    def remove(self, name: str) -> None:
        """Take a server out of ``mcp.json`` and end it.

        Raises:
            WrongServer: it is not there.
        """
        self.roster.remove(name)
        self.begin()

    def restart(self, name: str) -> State:
        """End a server, if it runs, and start it. Its earlier deaths are forgotten.

        Raises:
            WrongServer: there is no such server.
        """
        self._look()
        with self._lock:
            old = self._life(name)
            self._lives = self._lives | {name: self._made(old.server, old.wrong)}
        self._told = {told for told in self._told if told[0] != name}
        self.begin()
        return self._lives[name].state

    def configure(self, tables: Mapping[str, Any]) -> None:
        """Other servers in the settings from here on."""
        self.roster.tables = tables

    def close(self) -> None:
        """End all servers, within a second. Nothing can be started or called any more."""
        self._thread.close(self._end_all, CLOSE_SECONDS)
        for life in tuple(self._tasks):
            life.kill()  # whatever keeps that thread from its work

    # --- inside, on any thread

    def _look(self) -> None:
        """Read what servers there are to be, where that may have changed."""
        with self._lock:
            wanted = self.roster.changed()
            if wanted is None:
                return
            before = self._lives
            self._lives = {
                server.name: before[server.name]
                if server.name in before and before[server.name].is_that(server, wrong)
                else self._made(server, wrong)
                for server, wrong in wanted
            }

    def _made(self, server: Described, wrong: str = "") -> Life:
        from hermes_kernel.world.mcp.life import Life

        async def call(tool: str, arguments: Mapping[str, Any]) -> Result:
            return await self._call(server.name, tool, arguments)

        life = Life(server, call, self._folder, self._clock.elapsed, wrong)
        with contextlib.suppress(WrongServer):
            life.secrets |= server.filled(self._environ)[1]
        return life

    def _life(self, name: str) -> Life:
        if name not in self._lives:
            known = ", ".join(self._lives) or "none"
            raise WrongServer(f"There is no MCP server {brief(name, 40)!r}. There are: {known}.")
        return self._lives[name]

    def _named(self) -> Iterator[tuple[State, Tool]]:
        from hermes_kernel.world.mcp.naming import tool_name

        for life in tuple(self._lives.values()):
            state = life.state
            for raw, tool in state.tools.items():
                with self._lock:
                    name = self._names.get((state.name, raw)) or tool_name(state.name, raw, {*self._names.values()})
                    self._names[state.name, raw] = name
                yield state, tool if name == tool.name else replace(tool, name=name)

    def _news(self) -> Iterator[str]:
        for life in tuple(self._lives.values()):
            for line in life.state.news:
                if (life.server.name, line) not in self._told:
                    self._told.add((life.server.name, line))
                    yield line

    async def _call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Result:
        from hermes_kernel.world.mcp.progress import telling

        life = self._lives.get(server)
        if life is None:
            raise ToolError(f"The MCP server {server!r} has been removed.")
        async with telling(f"{server}: {brief(tool, 60)}", self._clock.elapsed, life.safe) as heard:
            try:
                return await self._thread.run(life.call(tool, arguments, heard))
            except Closed:
                raise ToolError(f"The MCP server {server!r} has been stopped.") from None

    # --- inside, on the servers' loop

    async def _start(self) -> None:
        """End what is no longer wanted, then start what is not started."""
        lives = tuple(self._lives.values())
        strays = {self._tasks.pop(life) for life in tuple(self._tasks) if life not in lives}
        for task in strays:
            task.cancel()
        if strays:
            await asyncio.wait(strays, timeout=CLOSE_SECONDS)
        for life in lives:
            if life.state.phase is Phase.NOT_STARTED and life not in self._tasks:
                self._tasks[life] = asyncio.create_task(life.live(self._environ, self._start_seconds))
                self._tasks[life].add_done_callback(life.ended)

    async def _settled(self, seconds: float) -> None:
        waits = [asyncio.ensure_future(life.settled_by(seconds)) for life in tuple(self._lives.values())]
        try:
            await asyncio.gather(*waits)
        finally:
            for each in waits:
                each.cancel()

    async def _end_all(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
