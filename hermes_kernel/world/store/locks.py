"""Locks the kernel of the machine lets go of when their holder dies, whatever it died of."""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol, Self

from hermes_kernel.world.store.places import PRIVATE_FILE, InUse, make

PAUSE = 0.002  # seconds between two tries; a fold holds its lock for tens of milliseconds
SIGNED = 64  # bytes of what a holder says of itself


class Busy(Exception):
    """Somebody else holds the lock, and went on holding it. Carried to whoever decides what that means."""


class Forkable(Protocol):
    """Something that belongs to one process and must be let go of in a forked child."""

    def forget(self) -> None:
        """Drop what the parent holds, without giving it up for the parent."""
        ...


_inherited: weakref.WeakSet[Forkable] = weakref.WeakSet()


def forget_in_child(holder: Forkable) -> None:
    """Have `holder.forget` called in every process forked from this one: a child that lived on with its parent's
    descriptors would keep the parent's locks after the parent's death."""
    _inherited.add(holder)


def _forget() -> None:
    for holder in tuple(_inherited):
        holder.forget()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def held(path: Path, seconds: float) -> Iterator[None]:
    """Hold `path` alone.

    Raises:
        Busy: it could not be had within `seconds`.
        OSError: the lock file cannot be made.
    """
    make(path.parent)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
    with _locked(handle, fcntl.LOCK_EX, seconds):
        yield


@contextmanager
def shared(path: Path, seconds: float) -> Iterator[None]:
    """Hold `path` together with other readers. Where there is no lock file and none can be made, nobody can write:
    there is nothing to hold.

    Raises:
        Busy: it could not be had within `seconds`.
    """
    handle = _to_share(path)
    if handle < 0:
        yield
        return
    with _locked(handle, fcntl.LOCK_SH, seconds):
        yield


def _to_share(path: Path) -> int:
    with suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with suppress(OSError):
        make(path.parent)
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
    return -1


@contextmanager
def _locked(handle: int, how: int, seconds: float) -> Iterator[None]:
    try:
        _wait_for(handle, how, seconds)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, how: int, seconds: float) -> None:
    """A bounded wait: one try alone would starve behind busy readers."""
    for _ in range(int(seconds / PAUSE)):
        if try_lock(handle, how):
            return
        time.sleep(PAUSE)
    if not try_lock(handle, how):
        raise Busy


@contextmanager
def left_behind(path: Path) -> Iterator[bool]:
    """Whether nobody holds the file at `path`, which a living process does that made it. As long as this lasts, nobody
    takes it.

    Raises:
        OSError: it is a link, or cannot be opened.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield True
        return
    try:
        yield try_lock(handle, fcntl.LOCK_EX)
    finally:
        os.close(handle)


def try_lock(handle: int, how: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Claim:
    """One process acts on one session. A context manager; let go of on `close`, and by the machine on any death."""

    def __init__(self, path: Path, session_id: str) -> None:
        """Raises:
        InUse: another process, named in the text, is acting on this session.
        OSError: the lock file cannot be made.
        """
        self._path = path
        self._handle = _claimed(path, session_id)
        forget_in_child(self)

    def close(self) -> None:
        """Let others act on the session. Twice is as good as once."""
        if self._handle >= 0:
            self._path.unlink(missing_ok=True)
            self.forget()

    def forget(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _claimed(path: Path, session_id: str) -> int:
    """A locked descriptor of the file that has this name now: a lock on one that was just unlinked guards nothing."""
    make(path.parent)
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
        with ExitStack() as unless_taken:
            unless_taken.callback(os.close, handle)
            if not try_lock(handle, fcntl.LOCK_EX):
                raise InUse(
                    f"session {session_id!r} is in use by {signed(handle)}: stop it there, or ask in a new session"
                )
            if path.exists() and os.path.samestat(path.stat(), os.fstat(handle)):
                sign(handle)
                unless_taken.pop_all()
                return handle


def sign(handle: int) -> None:
    """Say who holds it. On a full disk it is held without a name."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}".encode(), 0)


def signed(handle: int) -> str:
    """Who holds it, as ``process 4711``."""
    return os.pread(handle, SIGNED, 0).decode("ascii", "replace").strip() or "another process"
