"""Processes by what is in their environment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil


def lives(pid: int) -> bool:
    """Whether it runs; one that has ended and was not waited for does not."""
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def carrying(line: str) -> list[int]:
    """The ids of those that live and have ``NAME=value`` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            pid = int(folder.name)
            if line.encode() in (folder / "environ").read_bytes().split(b"\0") and lives(pid):
                found.append(pid)
    return found
