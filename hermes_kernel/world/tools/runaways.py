"""Processes that left the group of their command (``setsid``, daemons). A command's environment carries a mark, as does
that of all it starts; whoever clears it gets away, and so does everybody where there is no ``/proc``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Mapping
from pathlib import Path

NAME = "HERMES_COMMAND"

_serial = itertools.count(1)


def marked(environ: Mapping[str, str], name: str = NAME) -> tuple[dict[str, str], str]:
    """`environ` with a mark in it that no other command has, under this `name`, and the mark."""
    mark = f"{os.getpid()}.{next(_serial)}"
    return {**environ, name: mark}, mark


def kill_marked(mark: str, name: str = NAME) -> None:
    """KILL whatever carries `mark` and is ours to kill."""
    line = f"{name}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if line in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
