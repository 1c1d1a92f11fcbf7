"""Processes that left the group of their command (``setsid``, daemons). A command's environment carries a mark, as does
that of all it starts; whoever clears it gets away, and so does everybody where there is no ``/proc``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

NAME = "HERMES_COMMAND"
ENVIRON_BYTES = 2**21  # a fourth of the usual stack: what execve(2) takes at most
LOOKS, PAUSE_SECONDS = 25, 0.002  # for whoever starts others faster than they are killed, or hangs in `execve`

_serial = itertools.count(1)


def marked(environ: Mapping[str, str], name: str = NAME) -> tuple[dict[str, str], str]:
    """`environ` with a mark in it that no other command has, under this `name`, and the mark."""
    mark = f"{os.getpid()}.{next(_serial)}"
    return {**environ, name: mark}, mark


def kill_marked(mark: str, name: str = NAME) -> None:
    """KILL whatever carries `mark` and is ours to kill: also what is started while we look, and what becomes another
    program just then. Looks until a look finds nobody, so often at most."""
    line = f"{name}={mark}".encode()
    killed: set[int] = set()
    bare: set[_Bare] = set()
    for _ in range(LOOKS):
        found, unread = _look(line)
        for pid in found - killed:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if found <= killed and unread <= bare:
            return
        if unread:
            time.sleep(PAUSE_SECONDS)
        killed |= found
        bare = {each for each in unread if each.start == each.end > 0}


class _Bare(NamedTuple):
    """A process without an environment. In the middle of `execve` it has memory, but no place for it yet, or one that
    is still empty; who stands so in two looks has none. The fields are those of proc_pid_stat(5)."""

    pid: int
    start: int  # 50 env_start
    end: int  # 51 env_end


def _look(line: bytes) -> tuple[set[int], set[_Bare]]:
    """Who has this line in its environment, and whose cannot be read."""
    found, unread = set(), set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environ = _environ(folder)
            if line in environ.split(b"\0"):
                found.add(int(folder.name))
            elif not environ:
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                memory, start, end = (int(fields[n - 3]) for n in (23, 50, 51))
                if memory:
                    unread.add(_Bare(int(folder.name), start, end))
    return found, unread


def _environ(folder: Path) -> bytes:
    """In one read: what becomes another program between two has no more of it."""
    with (folder / "environ").open("rb", buffering=0) as file:
        return file.read(ENVIRON_BYTES)
