"""Processes by what is in their environment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def carrying(line: str) -> list[int]:
    """The ids of those that live and have ``NAME=value`` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            dead = (folder / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            if not dead and line.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
