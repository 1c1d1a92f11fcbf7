"""A server that is a program of its own, spoken to over its stdin and stdout: a transport for `mcp`'s session.

The package's own transport gives a program four seconds to end and no bound on what it may say. Here a line is bounded,
words that are no message do no harm, a program that exits is known to have exited at once, whoever holds its pipes, and
at the end its whole process group is gone within a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.described import Described
from hermes_kernel.world.mcp.ending import Ending
from hermes_kernel.world.mcp.lines import LONGEST, Lines, TooLong
from hermes_kernel.world.tools.calls import scrubbed

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

WAITING = 64  # messages read and not yet taken, before no more are read
OTHER_SECONDS = 0.2  # between the exit of a program and the end of its stdout, where nobody else holds that
ENDING = ((None, 0.25), (signal.SIGTERM, 0.2), (getattr(signal, "SIGKILL", signal.SIGTERM), 0.2))
"""What a program is told after its stdin was closed, and how many seconds it then has: 0.65 in all, of one that an exit
may take."""

KILLED = 0.2  # seconds for a killed process to be gone


@asynccontextmanager
async def piped(server: Described, ending: Ending) -> AsyncGenerator[TransportStreams, None]:
    """The messages from and to the program of `server`, which ends with this.

    Raises:
        OSError: it cannot be started.
    """
    program = _Program(ending)
    loop = asyncio.get_running_loop()
    await loop.subprocess_exec(
        lambda: program,
        *_command(server),
        env=_environment(server),
        cwd=os.path.expanduser(server.cwd) or None,  # noqa: PTH111, ASYNC240 - looks up a name and touches no file
        start_new_session=True,  # the notebook's SIGINT is not for it, and its children can be ended with it
    )
    inward, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, outward = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = (asyncio.create_task(program.hear(inward)), asyncio.create_task(program.say(outward)))
    try:
        yield heard, said
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.shield(asyncio.ensure_future(program.end()))
        for stream in (inward, heard, said, outward):
            stream.close()


def _command(server: Described) -> tuple[str, ...]:
    """The program's full path and arguments. On Linux the kernel is asked to end it when we are killed: closing its
    stdin, which is all that a killed process still does, ends only a program that listens."""
    program, *args = server.command
    place = os.path.expanduser(program)  # noqa: PTH111 - a Path would lose the ./ that says: not on the PATH
    if os.sep in place and server.cwd:
        place = os.path.join(os.path.expanduser(server.cwd), place)  # noqa: PTH111, PTH118 - likewise
    found = shutil.which(place, path=_environment(server).get("PATH"))
    if found is None:
        raise FileNotFoundError(f"there is no program {brief(program, 80)!r} on its PATH")
    bound = shutil.which("setpriv") if sys.platform == "linux" else None
    return (*((bound, "--pdeathsig", "KILL", "--") if bound else ()), found, *args)


def _environment(server: Described) -> dict[str, str]:
    """Little of ours: a stranger's program sees the keys that it is given and no others."""
    return get_default_environment() | dict(server.env)


class _Program(asyncio.SubprocessProtocol):
    """The process: what it says goes in at one side, what is said to it at the other."""

    def __init__(self, ending: Ending) -> None:
        self._ending = ending
        self._lines = Lines()
        self._inbox: asyncio.Queue[SessionMessage | None] = asyncio.Queue()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._exited = asyncio.Event()
        self._drained = False
        self._dismissed = False
        self._how = ""
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._ending.group = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._ending.hear(data)
            return
        for line in self._lines.feed(data):
            message = self._message(line)
            if message is not None:
                self._inbox.put_nowait(message)
        if self._inbox.qsize() > WAITING:
            self._stdout("pause_reading")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._drained = True
            self._ends("it closed its stdout")

    def process_exited(self) -> None:
        code = self._transport.get_returncode() if self._transport else None
        self._exited.set()
        self._how = f"it ended with signal {-code}" if code is not None and code < 0 else f"it ended with code {code}"
        self._ends(self._how)

    def _ends(self, why: str) -> None:
        """Its exit and the end of what it says come in any order, and one of them may not come at all."""
        if self._how and self._drained:
            self._over(self._how)
        else:
            asyncio.get_running_loop().call_later(OTHER_SECONDS, self._over, why)

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def _over(self, why: str) -> None:
        if not self._dismissed:
            self._ending.come(why)
        self._inbox.put_nowait(None)

    def _message(self, line: bytes | TooLong) -> SessionMessage | None:
        """What a line says; None for one that is no message, such as a greeting."""
        if isinstance(line, TooLong):
            return self._too_long(line)
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            return self._mended(line)

    def _mended(self, line: bytes) -> SessionMessage | None:
        """A message that holds halves of a surrogate pair, as JavaScript writes them, or one that is none at all: who
        waits for it is told, for it will not come again."""
        try:
            found = scrubbed(json.loads(line))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or "jsonrpc" not in found:
            self._ending.hear(line[-200:] + b"\n")
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_python(found, by_name=False))
        except ValueError:
            number = found.get("id")
            return _refused(number, "the answer is no message of the protocol") if isinstance(number, int) else None

    def _too_long(self, line: TooLong) -> SessionMessage | None:
        if line.answers is None:
            self._over(f"it sent a message of {line.size:,} bytes, and {LONGEST:,} are taken")
            return None
        return _refused(line.answers, f"the answer has {line.size:,} bytes, and {LONGEST:,} are taken")

    async def hear(self, to: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Hand on what comes, until the process or its stdout is no more."""
        async with to:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                while (message := await self._inbox.get()) is not None:
                    if self._inbox.qsize() <= WAITING // 2:
                        self._stdout("resume_reading")
                    await to.send(message)

    async def say(self, what: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what is to be said; a program that does not read makes us wait, not grow."""
        async with what:
            async for message in what:
                await self._may_write.wait()
                pipe = self._pipe(0)
                if pipe is None or pipe.is_closing():
                    return
                cast("asyncio.WriteTransport", pipe).write(
                    message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                )

    async def end(self) -> None:
        """Close its stdin, then end it and whatever it has started; at once, where nobody waits for that any more."""
        self._dismissed = True  # that it ends now is our doing and no reason
        if (stdin := self._pipe(0)) is not None:
            stdin.close()
        try:
            for told, seconds in ENDING:
                if told is not None:
                    self._tell(told)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._exited.wait(), seconds)
                    break
        finally:
            self._ending.kill()  # its children, too, where it has left some
            self._ending.group = 0
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), KILLED)
            if self._transport is not None:
                self._transport.close()

    def _tell(self, told: signal.Signals) -> None:
        if self._transport is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._transport.get_pid(), told)  # its own session, so its pid is the group's
            else:
                self._transport.terminate()

    def _stdout(self, what: str) -> None:
        pipe = self._pipe(1)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            getattr(pipe, what)()

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return self._transport.get_pipe_transport(fd) if self._transport else None


def _refused(number: int, why: str) -> SessionMessage:
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=INTERNAL_ERROR, message=why)))
