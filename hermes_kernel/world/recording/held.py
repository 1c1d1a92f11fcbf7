"""A file that one process at a time writes in. It holds whole pieces, whatever becomes of process or disk, and takes
the place of nothing but a recording."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import re
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

from hermes_kernel.world.store.disk import PRIVATE_FILE
from hermes_kernel.world.store.locks import left_behind, try_lock

_HEAD = re.compile(rb'^\s*\{\s*"cassette"', re.MULTILINE)
_LOOKED_AT = 4_000  # bytes in which a recording shows that it is one, also with the marks of a merge before it
_OTHERS = "another process is recording in it: only one can at a time"
_NONE = "it holds something else than a recording, which stays"
_GONE = "it was replaced by somebody else; `%hermes record on` begins it anew"


class NotOursError(OSError):
    """The file is another's."""


class HeldFile:
    """The one at ``path``, which nobody else writes in from `begin` to `let_go`. What cannot be done is an OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle, self._size = -1, 0
        self._left: tuple[int, int] | None = None  # inode and size of what was let go of

    @property
    def is_as_left(self) -> bool:
        """What is there is what was written last."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        if self._handle >= 0:
            return os.path.samestat(found, os.fstat(self._handle))
        return (found.st_ino, found.st_size) == self._left

    def begin(self, content: bytes) -> None:
        """Have it hold just `content`, whatever was recorded there."""
        with _holding_what_is_there(self.path):
            self.replace(content)
        _sweep(self.path)

    def take_hold(self) -> bool:
        """Go on with what was begun; whether it is there still."""
        if self._handle < 0:
            self._reopen()
        if not self.path.exists():
            return False
        if not os.path.samestat(self.path.stat(), os.fstat(self._handle)):
            raise NotOursError(errno.EBUSY, _GONE)
        return True

    def replace(self, content: bytes) -> None:
        """Have it hold just `content`, or what it held before; afterwards it is held."""
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
        with ExitStack() as unless_there:
            unless_there.callback(fresh.unlink, missing_ok=True)
            unless_there.callback(os.close, handle)
            _hold(handle)
            _put(handle, content, 0)
            os.fsync(handle)
            fresh.replace(self.path)
            unless_there.pop_all()
        self._close()
        self._handle, self._size = handle, len(content)

    def add(self, content: bytes) -> None:
        """All of `content` at its end, or nothing."""
        try:
            _put(self._handle, content, self._size)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise
        self._size += len(content)

    def let_go(self) -> None:
        """Others may write in it. It can be taken hold of again where it is found as it was left."""
        if self._handle >= 0:
            self._left = (os.fstat(self._handle).st_ino, self._size)
        self._close()

    def forget(self) -> None:
        """It is not gone on with."""
        self._close()
        self._left = None

    def _reopen(self) -> None:
        with suppress(FileNotFoundError), ExitStack() as unless_held:
            handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
            unless_held.callback(os.close, handle)
            _hold(handle)
            found = os.fstat(handle)
            if (found.st_ino, found.st_size) != self._left:
                raise NotOursError(errno.EBUSY, _GONE)
            unless_held.pop_all()
            self._handle, self._size = handle, found.st_size

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


def _put(handle: int, content: bytes, at: int) -> None:
    """All of it: a single write may write half and say nothing."""
    rest = memoryview(content)
    while rest:
        written = os.pwrite(handle, rest, at)
        rest, at = rest[written:], at + written


def _hold(handle: int) -> None:
    if not try_lock(handle, fcntl.LOCK_EX):
        raise NotOursError(errno.EBUSY, _OTHERS)


def _sweep(path: Path) -> None:
    """Remove what killed processes have left half made beside it: nobody holds that any more."""
    made = (left for left in path.parent.glob(f".{glob.escape(path.name)}.*") if left.suffix[1:].isdecimal())
    for left in made:
        with suppress(OSError), left_behind(left) as dead:
            if dead:
                left.unlink()


def _holding_what_is_there(path: Path) -> ExitStack:
    """While it lasts nobody else records in the file that is about to be replaced: where there is none, an empty one
    stands in for it, for of several that begin at once only one may.

    Raises:
        OSError: somebody does, or it is no recording: that is somebody's work, or a device.
    """
    while True:
        with ExitStack() as held:
            handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE_FILE)
            held.callback(os.close, handle)
            _hold(handle)
            if not _is_at(path, handle):  # somebody who has let go of this one put another there
                continue
            held.callback(_remove_empty, path, handle)
            if not _may_go(handle):
                raise NotOursError(errno.EEXIST, _NONE)
            return held.pop_all()


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove_empty(path: Path, handle: int) -> None:
    """What stood in for a file goes where none came."""
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode) and not found.st_size and _is_at(path, handle):
        path.unlink()


def _may_go(handle: int) -> bool:
    """Whether there is nothing in it but a recording, perhaps a damaged one."""
    found = os.fstat(handle)
    return stat.S_ISREG(found.st_mode) and (not found.st_size or bool(_HEAD.search(os.pread(handle, _LOOKED_AT, 0))))
