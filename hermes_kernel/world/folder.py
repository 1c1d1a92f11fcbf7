"""The working folder of the moment, which a person or a tool may leave or delete."""

from __future__ import annotations

from pathlib import Path


def here() -> Path:
    """The working folder; one that was deleted is a folder in which nothing is found."""
    try:
        return Path.cwd()
    except OSError:
        return Path()
