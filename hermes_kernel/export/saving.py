"""A person's own file: written whole or not at all, and never over another without being told to."""

from __future__ import annotations

import os
from pathlib import Path


def save(text: str, path: Path, *, force: bool = False) -> None:
    """Write `text`. The file is the person's: their umask decides who may read it; one that is replaced keeps its own
    permissions.

    Raises:
        FileExistsError: there is a file already, and ``force`` is not set.
        OSError: the folder is not there or cannot be written.
    """
    if path.exists() and not force:
        raise FileExistsError(f"{path} is there already: --force writes over it")
    target = path.resolve()  # what a link names is replaced, not the link
    half = target.with_name(f".{target.name[:200]}.{os.getpid()}")
    try:
        _write(half, text)
        if target.exists():
            half.chmod(target.stat().st_mode & 0o777)
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
