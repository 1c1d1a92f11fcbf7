"""What the tests of MCP share: servers of our own and real ones, and a toolbox that offers their tools."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from hermes_kernel.core.events import Noticed, Observed
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.mcp import Servers
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tools
from tests.contracts.toolbox import run_calls, toolbox

HERE = Path(__file__).parent / "mcp_servers"
NODE = HERE / "node_modules" / ".bin"
HAS_NODE = bool(shutil.which("node")) and NODE.is_dir()
PATIENCE_SECONDS = 60.0
TIME = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "Etc/UTC"], "trust": True}


def own(*options: str, trust: bool = True, **more: Any) -> dict[str, Any]:
    """The table of a server of our own."""
    return {"command": sys.executable, "args": [str(HERE / "own.py"), *options], "trust": trust, **more}


def published(name: str, *args: str, **more: Any) -> dict[str, Any]:
    """The table of a server from npm."""
    return {"command": str(NODE / name), "args": list(args), "trust": True, **more}


class Hub:
    """Servers, the toolbox that offers what they have, and what was told of them."""

    def __init__(
        self, tmp_path: Path, tables: dict[str, Any], person: Any = None, *, start: float = 60, **settings: Any
    ) -> None:
        self.home = tmp_path / "home"
        self.servers = Servers(self.home, tables, lambda: tmp_path, SystemClock(), start_seconds=start)
        self.tools: Tools = toolbox(tmp_path, person, **settings)
        self.tools.sources = (self.servers,)
        self.told: list[str] = []

    async def ready(self) -> Hub:
        """Begin a turn, when no server is being started any more: on a busy machine that takes longer than a turn waits."""
        self.servers.begin()
        await asyncio.to_thread(self.servers.settle, PATIENCE_SECONDS)
        async for noticed in self.servers.ready(Stop()):
            self.told.append(noticed.text)
        return self

    def names(self) -> list[str]:
        return [name for name in self.tools.names() if name.startswith("mcp_")]

    async def call(self, name: str, **arguments: Any) -> Observed:
        """The result of one call, made as a turn makes it."""
        (result,) = [event for event in await self.calls((name, arguments)) if isinstance(event, Observed)]
        return result

    async def calls(self, *calls: Any, stop: Stop | None = None) -> list[Any]:
        return await run_calls(self.tools, *calls, stop=stop)

    async def under_way(self, *calls: Any, stop: Stop | None = None) -> asyncio.Task[list[Any]]:
        """What `calls` returns; a server has begun to work on one of them, and has told how far it is."""
        told = asyncio.Event()

        def hear(event: Any) -> None:
            if isinstance(event, Noticed):
                told.set()

        task = asyncio.create_task(run_calls(self.tools, *calls, stop=stop, hear=hear))
        await asyncio.wait_for(told.wait(), PATIENCE_SECONDS)
        return task

    def phase(self, name: str) -> str:
        return str(self.servers.state(name).phase)


def lines(events: list[Any]) -> list[str]:
    return [event.text for event in events if isinstance(event, Noticed)]


def processes(mark: str, folder: Path) -> list[psutil.Process]:
    """Those that run now in `folder` with `mark` in their command, and are no zombies."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if (
                process.status() != psutil.STATUS_ZOMBIE
                and Path(process.cwd()) == folder
                and mark in " ".join(process.cmdline())
            ):
                found.append(process)
    return found


async def until(what: Any, seconds: float = 20) -> None:
    """Return when `what()` holds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to be"
        await asyncio.sleep(0.02)
