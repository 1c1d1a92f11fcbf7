"""A file that this process records in. It holds whole exchanges, whatever becomes of process or disk; one process at a
time records in it. What cannot be written is told once, and the work that was to be recorded goes on."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import re
import stat
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from hermes_kernel.core.recording.cassette import Called, Cassette, Exchange, Head
from hermes_kernel.core.recording.lines import Known, called_lines, exchange_lines, head_lines
from hermes_kernel.core.recording.windows import with_windows
from hermes_kernel.core.text import brief
from hermes_kernel.world.store.disk import PRIVATE_FILE
from hermes_kernel.world.store.locks import forget_in_child, try_lock

_HEAD = re.compile(rb'^\s*\{\s*"cassette"', re.MULTILINE)
_LOOKED_AT = 4_000  # bytes in which a recording shows that it is one, also with the marks of a merge before it
_NAME = 200  # characters of a file's name that are shown
_OTHERS = "another process is recording in it: only one can at a time"
_NONE = "it holds something else than a recording, which stays"
_GONE = "it was replaced by somebody else; `%hermes record on` begins it anew"


class _NotOursError(OSError):
    """The file is another's."""


class Reel:
    """The file at ``path``. The first that is kept replaces what it held, unless that is gone on with; what follows is
    added. Safe from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.exchanges = self.calls = 0
        self._head: Callable[[], Head] = Head
        self._before = Cassette()
        self._windows: dict[str, int] = {}
        self._known = Known()
        self._lock = threading.RLock()
        self._handle, self._size = -1, 0
        self._begun = False
        self._written: Head | None = None
        self._left: tuple[int, int] | None = None  # inode and size of what was let go of
        self._silent = False
        self._news: list[str] = []
        forget_in_child(self)

    @property
    def begun(self) -> bool:
        """Whether this process has recorded in it."""
        return self._begun

    def take_up(self, head: Callable[[], Head], before: Cassette | None) -> None:
        """For whoever records next: `head` says with what settings, `before` is what is gone on with, None: nothing.
        Trouble of earlier on is forgotten."""
        with self._lock:
            self._silent = False
            if self._begun and not self._is_as_left():
                self._end()
            if not self._begun:
                self._written = None
                self._head, self._before = head, before or Cassette()
                self.exchanges, self.calls = len(self._before.exchanges), len(self._before.calls)

    def keep(self, exchange: Exchange) -> None:
        """Record `exchange`, which has no secrets any more."""
        with self._lock:
            if self._write(lambda: exchange_lines(exchange, self._known)):
                self.exchanges += 1

    def keep_call(self, called: Called) -> None:
        """Record a call, which has no secrets any more."""
        with self._lock:
            if self._write(lambda: called_lines(called)):
                self.calls += 1

    def keep_window(self, name: str, tokens: int) -> None:
        """Record what a server says of how much its model reads. It belongs to the head, which may be there already."""
        with self._lock:
            if self._windows.get(name) == tokens:
                return
            self._windows[name] = tokens
            if self._begun and not self._silent:
                with suppress(OSError):
                    self._take_hold()
                    _, _, rest = self._content().partition(b"\n")
                    self._replace(self._headline() + rest)

    def news(self) -> tuple[str, ...]:
        """What a person should know since the last time."""
        with self._lock:
            told, self._news = tuple(self._news), []
            return told

    def let_go(self) -> None:
        """Others may record in it. It is gone on with where it is found as it was left."""
        with self._lock:
            if self._handle >= 0:
                self._left = (os.fstat(self._handle).st_ino, self._size)
            self._close()

    def forget(self) -> None:
        """In a forked child: what the parent records is not the child's."""
        self._lock = threading.RLock()
        self._end()

    # --- the file

    def _end(self) -> None:
        """What was recorded is not gone on with."""
        self._close()
        self._begun, self._left, self._known, self._before = False, None, Known(), Cassette()
        self._written = None
        self.exchanges = self.calls = 0

    def _is_as_left(self) -> bool:
        try:
            found = self.path.stat()
        except OSError:
            return False
        if self._handle >= 0:
            return os.path.samestat(found, os.fstat(self._handle))
        return (found.st_ino, found.st_size) == self._left

    def _write(self, lines: Callable[[], str]) -> bool:
        """Whether `lines` are in the file now."""
        if self._silent:
            return False
        try:
            if self._take_hold():
                self._add(lines().encode())
            else:
                self._begin(lines)
        except OSError as error:
            self._give_up(error)
            return False
        return True

    def _take_hold(self) -> bool:
        """Whether the file is held and is the one that was begun; one that was removed is begun anew."""
        if not self._begun:
            return False
        if self._handle < 0:
            self._reopen()
        if not self.path.exists():
            self._end()
            return False
        if not os.path.samestat(self.path.stat(), os.fstat(self._handle)):
            raise _NotOursError(errno.EBUSY, _GONE)
        return True

    def _reopen(self) -> None:
        with suppress(FileNotFoundError), ExitStack() as unless_held:
            handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
            unless_held.callback(os.close, handle)
            _hold(handle)
            found = os.fstat(handle)
            if (found.st_ino, found.st_size) != self._left:
                raise _NotOursError(errno.EBUSY, _GONE)
            unless_held.pop_all()
            self._handle, self._size = handle, found.st_size

    def _begin(self, lines: Callable[[], str]) -> None:
        known, self._known = self._known, Known()
        try:
            told = [exchange_lines(exchange, self._known) for exchange in self._before.exchanges]
            told += [called_lines(called) for called in self._before.calls]
            with _holding_what_is_there(self.path):
                self._replace(self._headline() + "".join([*told, lines()]).encode())
            _sweep(self.path)
        except OSError:
            self._known = known
            raise
        self._begun, self._before = True, Cassette()

    def _headline(self) -> bytes:
        head = self._written or (self._before.head if self._before.head.settings else self._head())
        self._written = with_windows(head, self._windows)
        return head_lines(self._written).encode()

    def _replace(self, content: bytes) -> None:
        """Have the file hold just `content`, or what it held before; afterwards it is held."""
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

    def _add(self, content: bytes) -> None:
        try:
            _put(self._handle, content, self._size)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise
        self._size += len(content)

    def _content(self) -> bytes:
        with self.path.open("rb") as file:
            return file.read()

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def _give_up(self, error: OSError) -> None:
        self._silent = True
        why = error.strerror or str(error)
        kept = ", what was is kept" if self._begun and not isinstance(error, _NotOursError) else ""
        self._news.append(f"Not recorded in {brief(str(self.path), _NAME)} from here on{kept}: {why}.")


def _put(handle: int, content: bytes, at: int) -> None:
    """All of it: a single write may write half and say nothing."""
    rest = memoryview(content)
    while rest:
        written = os.pwrite(handle, rest, at)
        rest, at = rest[written:], at + written


def _hold(handle: int) -> None:
    if not try_lock(handle, fcntl.LOCK_EX):
        raise _NotOursError(errno.EBUSY, _OTHERS)


def _sweep(path: Path) -> None:
    """Remove what killed processes have left half made beside it: nobody holds that any more."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        with suppress(OSError), ExitStack() as held:
            if left.suffix[1:].isdecimal():
                handle = os.open(left, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
                held.callback(os.close, handle)
                _hold(handle)
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
                raise _NotOursError(errno.EEXIST, _NONE)
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
