"""A person's own file: written whole or not at all, and never over another without being told to."""

from __future__ import annotations

import os
from pathlib import Path


def save(text: str, path: Path) -> None:
    """Write `text` where nothing is yet. The file is the person's: their umask decides who may read it.

    Raises:
        FileExistsError: there is a file already; one line says what to do.
        OSError: the folder is not there or cannot be written.
    """
    if path.exists():
        raise FileExistsError(f"{path} is there already: give --force to write over it, or another name")
    save_over(text, path)


def save_over(text: str, path: Path) -> None:
    """Write `text` whatever is there. A file that is replaced keeps its own permissions.

    Raises:
        OSError: the folder is not there or cannot be written.
    """
    target = path.resolve()  # what a link names is replaced, not the link
    half = target.with_name(f".{target.name[:200]}.{os.getpid()}")
    half.unlink(missing_ok=True)
    try:
        _write(half, text, target)
        half.replace(target)
    except OSError as error:
        error.filename = str(path)  # a disk that is full says of no file which one that was
        raise
    finally:
        half.unlink(missing_ok=True)


def _write(path: Path, text: str, like: Path) -> None:
    """Where there is nothing, for in a folder for everybody somebody may have put a link there; from the first byte for
    those who may read what it is to be like."""
    with path.open("x", encoding="utf-8", newline="") as file:
        if like.exists():
            path.chmod(like.stat().st_mode & 0o777)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
