"""What is left behind: tasks, threads, connections, descriptors, children, and files where none belong."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY = Path("/dev/shm")  # where flushing costs nothing: what is played here is no power cut
PATIENCE = 10.0  # seconds for what ends by itself to have ended

_WRITTEN: list[set[str]] = []
_LISTENING = False


@contextmanager
def writes() -> Iterator[set[str]]:
    """The paths that are opened for writing, made, linked or renamed to by this process while it lasts."""
    _listen()
    _WRITTEN.append(set())
    try:
        yield _WRITTEN[-1]
    finally:
        _WRITTEN.pop()


def _listen() -> None:
    global _LISTENING  # noqa: PLW0603 - a hook can be set once and for good
    if not _LISTENING:
        _LISTENING = True
        sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WRITTEN:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) and isinstance(path, str | bytes | os.PathLike):
            _WRITTEN[-1].add(str(Path(os.fsdecode(path)).absolute()))
    elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink"):
        path = arguments[1] if event != "os.mkdir" else arguments[0]
        if isinstance(path, str | bytes | os.PathLike):
            _WRITTEN[-1].add(str(Path(os.fsdecode(path)).absolute()))


def outside(paths: set[str], *folders: Path) -> list[str]:
    """Those of `paths` that are in none of `folders`, and are no device. What was temporary, and has gone, is nowhere."""
    roots, passing = tuple(f"{folder}/" for folder in folders), f"{tempfile.gettempdir()}/"
    return sorted(
        path
        for path in paths
        if not f"{path}/".startswith(roots)
        and not path.startswith(("/dev/", "/proc/"))
        and "__pycache__" not in path
        and not (path.startswith(passing) and not Path(path).exists())
    )


def descriptors() -> list[str]:
    """What this process has open, as the system names it."""
    found = []
    for each in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(each.readlink()))
        except FileNotFoundError:
            continue  # the one that was listed with
    return sorted(found)


def threads() -> list[str]:
    """The threads there are, by name, but for the pool of the running event loop, which ends with it."""
    return sorted(t.name for t in threading.enumerate() if not t.name.startswith(("asyncio_", "MainThread")))


def children() -> list[int]:
    """The processes that this one has started and that are there."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        try:
            text = (task / "children").read_text()
        except OSError:
            continue
        found += map(int, text.split())
    return found


def passing(found: Callable[[], int], allowed: int = 0) -> bool:
    """Whether `found` comes to be no more than is allowed, in a while."""
    end, looks = time.monotonic() + PATIENCE, 0
    while found() > allowed and time.monotonic() < end:
        looks += 1
        if looks % 20 == 0:
            gc.collect()
        time.sleep(0.01)
    return found() <= allowed


async def tasks_end(allowed: int = 0) -> list[str]:
    """The tasks that do not end by themselves, beside the one that asks."""
    end = time.monotonic() + PATIENCE
    while len(left := _others()) > allowed and time.monotonic() < end:
        await asyncio.sleep(0.005)
    return [repr(task) for task in left] if len(left) > allowed else []


def _others() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]


@contextmanager
def folders() -> Iterator[Path]:
    """A folder with ``home``, ``work`` and ``house`` in it; the process works in the second and takes the third for the
    home of its user."""
    before, house = Path.cwd(), os.environ.get("HOME")
    tempfile.gettempdir()  # which is tried out once, by writing in it
    with tempfile.TemporaryDirectory(prefix="campaign-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        root = Path(made).resolve()
        for name in ("home", "work", "house"):
            (root / name).mkdir(mode=0o700)
        os.chdir(root / "work")
        os.environ["HOME"] = str(root / "house")
        try:
            yield root
        finally:
            os.chdir(before)
            if house is not None:
                os.environ["HOME"] = house
