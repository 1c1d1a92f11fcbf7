"""Files and folders that are their owner's alone, and what is on disk when. Knows nothing of homes."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class StoreError(OSError):
    """The store could not do what was asked. One readable line; what was stored before still stands."""


class InUse(StoreError):
    """Another process, named in the text, acts on the session."""


def full(folder: Path) -> str:
    """What to say of a disk without room."""
    return f"the disk with {folder} is full: free some space and run this again; what was saved stands"


def make(folder: Path) -> None:
    """`folder` and what is missing above it, private to its owner."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(PRIVATE_FOLDER, exist_ok=True)


def content(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file; nothing waits for a pipe or a device.

    Raises:
        OSError: it is none, has more than `most` bytes, or cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            raise OSError(errno.EINVAL, f"no file of at most {most:,} bytes", str(path))
        return file.read()


def plain_in(path: Path, most: int) -> dict[str, Any]:
    """The JSON object in a file of at most `most` bytes; an empty one where there is none that can be understood."""
    try:
        plain = json.loads(content(path, most))
    except (OSError, ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}


def put(content: bytes, path: Path, fresh: Path) -> None:
    """Have `path` hold just `content`, or what it held before. ``fresh`` lies beside it and is nobody else's.

    Raises:
        OSError: the disk is full or does not take it.
    """
    handle = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
    with os.fdopen(handle, "wb") as file:  # a bare `os.write` may write half and say nothing
        file.write(content)
        file.flush()
        os.fsync(handle)
    fresh.replace(path)


def sync_folder(folder: Path) -> None:
    """Names made or removed in `folder` are on disk when this returns."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
