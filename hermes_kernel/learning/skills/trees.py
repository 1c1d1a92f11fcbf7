"""A folder as a value: its files, links and empty folders by name, and the id that all of them have together.

Reads a folder without following anything out of it. Knows no history.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from hermes_kernel.core.learning.skill import SkillError

FILES = 200
FILE_BYTES = 1_048_576
DEEPEST = 16  # folders below one another


class HistoryError(SkillError):
    """A folder that cannot be kept, or one that cannot be brought back: a line that names what is in the way."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a folder may hold: files, and bytes of each."""

    files: int = FILES
    file_bytes: int = FILE_BYTES


BOUNDS = Bounds()
WIDE = Bounds(20_000, 2**31)
"""For what is only moved or compared, whoever made it."""


@dataclass(frozen=True, slots=True)
class Tree:
    """``files`` are SHA-256 digests in hex by path with ``/``; ``runnable`` those with the executable bit; ``links``
    where symbolic links point, all inside; ``folders`` the empty ones."""

    files: Mapping[str, str] = field(default_factory=dict)
    runnable: frozenset[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()

    def dump(self) -> bytes:
        """The one JSON of it."""
        plain = {
            "files": dict(self.files), "runnable": sorted(self.runnable), "links": dict(self.links),
            "folders": sorted(self.folders),
        }  # fmt: skip
        return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()

    @property
    def id(self) -> str:
        """SHA-256 in hex digits."""
        return hashlib.sha256(self.dump()).hexdigest()


def load(dumped: bytes) -> Tree:
    """The tree that `Tree.dump` made this of.

    Raises:
        ValueError: it is none of one.
    """
    plain: Any = json.loads(dumped)
    try:
        return Tree(plain["files"], frozenset(plain["runnable"]), plain["links"], frozenset(plain["folders"]))
    except (KeyError, TypeError):
        raise ValueError("no tree of the history") from None


@dataclass(frozen=True, slots=True)
class Found:
    """A folder as it stands on disk: its tree, and the content of each file by digest."""

    tree: Tree
    contents: Mapping[str, bytes]


def tree_id(folder: Path, bounds: Bounds = WIDE) -> str:
    """The id of what a folder holds at this moment; "" where there is no folder.

    Raises:
        HistoryError, OSError: as `found`.
    """
    return found(folder, bounds, contents=False).tree.id if folder.is_dir() else ""


def found(folder: Path, bounds: Bounds = BOUNDS, *, contents: bool = True) -> Found:
    """What `folder` holds.

    Raises:
        HistoryError: it holds more than `bounds`, a link that leads out, or what is no file.
        OSError: it cannot be read.
    """
    files: dict[str, str] = {}
    runnable, links, kept = set(), {}, {}
    empty = []
    for path, name, kind in _walk(folder, ""):
        if kind == "link":
            links[name] = _inside(folder, path, name)
        elif kind == "empty":
            empty.append(name)
        else:
            content, executable = _content(path, name, bounds)
            files[name] = digest = hashlib.sha256(content).hexdigest()
            if contents:
                kept[digest] = content
            runnable |= {name} if executable else set()
        if len(files) + len(links) > bounds.files:
            raise HistoryError(f"{folder.name} holds more than {bounds.files} files, and no more are kept.")
    return Found(Tree(files, frozenset(runnable), links, frozenset(empty)), kept)


def _walk(folder: Path, prefix: str, depth: int = 0) -> Iterator[tuple[Path, str, str]]:
    if depth > DEEPEST:
        raise HistoryError(f"{prefix} has folders more than {DEEPEST} deep.")
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for entry in entries:
        name = prefix + _text(entry.name)
        path = Path(entry.path)
        if entry.is_symlink():
            yield path, name, "link"
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(path, f"{name}/", depth + 1)
        else:
            yield path, name, "file"
    if not entries and prefix:
        yield folder, prefix.rstrip("/"), "empty"


def _text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise HistoryError(f"A file's name is not UTF-8: {name.encode(errors='replace')!r}. Rename it.") from None
    return name


def _inside(folder: Path, path: Path, name: str) -> str:
    """Where a link points, if that is in the folder."""
    target = os.fspath(path.readlink())
    at = os.path.normpath(PurePosixPath(name).parent / target)
    if PurePosixPath(target).is_absolute() or at == ".." or at.startswith("../"):
        raise HistoryError(f"{name} is a link that leads out of {folder.name}. Put a copy of the file there instead.")
    return _text(target)


def _content(path: Path, name: str, bounds: Bounds) -> tuple[bytes, bool]:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise HistoryError(f"{name} is no ordinary file.")
        content = file.read(bounds.file_bytes + 1)
    if len(content) > bounds.file_bytes:
        raise HistoryError(f"{name} is larger than {bounds.file_bytes:,} bytes, and no more is kept of a file.")
    return content, bool(status.st_mode & stat.S_IXUSR)
