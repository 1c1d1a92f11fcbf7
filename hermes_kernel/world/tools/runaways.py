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

NAME = "HERMES_COMMAND"
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
    for _ in range(LOOKS):
        found, turning = _look(line)
        for pid in found - killed:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if found <= killed and not turning:
            return
        if turning:
            time.sleep(PAUSE_SECONDS)
        killed |= found


def _look(line: bytes) -> tuple[set[int], bool]:
    """Who has this line in its environment, and whether anybody's cannot be read yet."""
    found, turning = set(), False
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environ = (folder / "environ").read_bytes()
            if line in environ.split(b"\0"):
                found.add(int(folder.name))
            turning = turning or (not environ and _turns(folder))
    return found, turning


def _turns(folder: Path) -> bool:
    """Whether a process without an environment is in the middle of `execve`: it has memory, but no place for it yet.
    The fields are those of proc_pid_stat(5): 23 vsize, 50 env_start, 51 env_end."""
    fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
    memory, start, end = (int(fields[n - 3]) for n in (23, 50, 51))
    return memory > 0 and (end == 0 or start != end)
