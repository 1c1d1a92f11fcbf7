"""Folders that may not be there: the working folder of the moment, which a person or a tool may leave or delete, and
the home folder, which a process in a container or a service may not have."""

from __future__ import annotations

import os
from pathlib import Path


def here() -> Path:
    """The working folder; one that was deleted is a folder in which nothing is found."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def home_folder() -> Path | None:
    """The person's home folder; None where nobody knows it: no HOME is set and the user is not on record."""
    found = os.path.expanduser("~")  # noqa: PTH111 - where nobody knows it, Path raises
    return None if found == "~" else Path(found)


def named(path: str | Path) -> Path:
    """The path that a person named. A ``~`` of nobody is a name like any other, and there is nothing at it."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - likewise
