"""Commands in a process group of their own: their output is drained as long as they live, and nothing outlives a stop.

Reads with threads and not with the event loop, so that a server started with ``&`` can go on writing after its command
has ended, and so that it works on any loop.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hermes_kernel.world.tools.runaways import kill_marked, marked
from hermes_kernel.world.tools.threads import in_thread

KEPT_BYTES = 2_000_000  # of the head, and as much of the tail
TERM_SECONDS = 1.0  # between TERM and KILL at a deadline
STOP_SECONDS = 0.1  # between TERM and KILL at a stop: 0.2 s is promised
LINGER_SECONDS = 0.2  # for the last output after the command itself has ended

_living: dict[int, str] = {}
"""The commands that run, by their group, each with its mark."""


@dataclass(slots=True)
class Spool:
    """The head and the tail of what a command wrote."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0

    def add(self, piece: bytes) -> None:
        """Take the next bytes, forgetting the oldest of the tail."""
        self.total += len(piece)
        room = KEPT_BYTES - len(self.head)
        self.head += piece[:room]
        self.tail += piece[room:] if room > 0 else piece
        if len(self.tail) > 2 * KEPT_BYTES:
            del self.tail[:-KEPT_BYTES]

    def text(self) -> str:
        """All of it, or both ends with the number of bytes between."""
        tail = bytes(self.tail[-KEPT_BYTES:])
        left_out = self.total - len(self.head) - len(tail)
        gap = f"\n[… {left_out:,} bytes left out …]\n" if left_out else ""
        return bytes(self.head).decode(errors="replace") + gap + tail.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. ``code`` is None when it was killed at its deadline; ``held``: something it left in the
    background still has its output."""

    code: int | None
    output: str
    held: bool = False


async def run_process(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, seconds: float, given: bytes = b""
) -> Ended:
    """Run a program to its end or its deadline. Cancelled, it takes its whole process group with it.

    Raises:
        OSError: it could not be started.
    """
    environ, mark = marked(os.environ if env is None else env)
    process = subprocess.Popen(  # noqa: ASYNC220 - starting takes 2 ms; waiting is done by threads
        arguments, cwd=cwd, env=environ, stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    _living[process.pid] = mark
    spool = Spool()
    drained = threading.Event()
    threading.Thread(target=_drain, args=(process.stdout, spool, drained), name="hermes-drain", daemon=True).start()
    ended = in_thread(lambda: _wait(process, given), "hermes-wait")
    try:
        await asyncio.wait({ended}, timeout=seconds)
        overdue = not ended.done()
        if overdue:
            await in_thread(lambda: kill_group(process, TERM_SECONDS))
        else:
            _living.pop(process.pid, None)
        held = not drained.is_set() and not await in_thread(lambda: drained.wait(LINGER_SECONDS))
        return Ended(None if overdue else process.returncode, spool.text(), held)
    except asyncio.CancelledError:
        threading.Thread(target=kill_group, args=(process, STOP_SECONDS), name="hermes-kill").start()
        raise


def kill_group(process: subprocess.Popen[bytes], patience: float) -> None:
    """TERM to the whole group, and KILL to what is left of it, or has left it, after `patience` seconds."""
    if _signal(process.pid, signal.SIGTERM):
        limit = time.monotonic() + patience
        while time.monotonic() < limit and _signal(process.pid, 0):
            time.sleep(0.01)
        _signal(process.pid, signal.SIGKILL)
    if mark := _living.pop(process.pid, ""):
        kill_marked(mark)


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _wait(process: subprocess.Popen[bytes], given: bytes) -> int:
    if given and process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.write(given)
        with contextlib.suppress(OSError):
            process.stdin.close()
    return process.wait()


def _drain(pipe: IO[bytes], spool: Spool, drained: threading.Event) -> None:
    with pipe:
        while piece := os.read(pipe.fileno(), 65_536):
            spool.add(piece)
    drained.set()


@atexit.register
def _kill_all() -> None:
    for group, mark in tuple(_living.items()):
        _signal(group, signal.SIGKILL)
        kill_marked(mark)
