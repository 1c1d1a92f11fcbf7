"""An append-only file of one process: a record is on disk when `append` returns, and no other process is waited for.

Every line carries its checksum. Whatever follows the last newline was never acknowledged; a damaged line costs itself
and nothing else. The writer's lock on the file says that it lives.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.world.store.locality import NO_LOCKS, distrusted, host
from hermes_kernel.world.store.locks import forget_in_child, try_lock
from hermes_kernel.world.store.places import PRIVATE_FILE, Places, make, sync_folder
from hermes_kernel.world.store.records import Record, decode, dense

ROTATE_AT = 16 * 2**20  # bytes; a journal can only be removed when its writer has left it
TRIES = 100

if sys.platform == "darwin":

    def sync(handle: int) -> None:
        """`fsync` on macOS stops at the drive's cache; this does not."""
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)

else:
    sync = os.fdatasync


class Journal:
    """The writing end. Not for two threads at once."""

    def __init__(self, folder: Path, ids: Callable[[], str], *, tag: str = "", rotate_at: int = ROTATE_AT) -> None:
        """``tag`` ends the name of each file: what is in them is owed to a shared store."""
        self._tag = tag
        self._folder = folder
        self._ids = ids
        self._rotate_at = rotate_at
        self._handle = -1
        self._name = ""
        self._end = 0
        self._minted = 0
        forget_in_child(self)

    def mint(self) -> str:
        """A uid for the next record: this journal's name and a number.

        Raises:
            OSError: the journal cannot be made.
        """
        self._be_there()
        self._minted += 1
        return f"{self._name}.{self._minted}"

    def append(self, lines: bytes) -> None:
        """On disk when it returns, and nothing of it there when it raises `OSError`. After a `KeyboardInterrupt` each
        line is there as a whole or not at all.

        Raises:
            OSError: the disk is full or does not take it.
        """
        self._be_there()
        self._drop_torn()
        try:
            self._write(lines)
        except BaseException:
            self._drop_torn()
            raise
        self._sync()
        self._end += len(lines)
        if self._end >= self._rotate_at:
            self.close()

    def close(self) -> None:
        """Leave the journal to whoever folds. The next append begins another."""
        self.forget()

    def forget(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def _be_there(self) -> None:
        """Have a journal open that others can find: what goes to one that somebody removed is lost."""
        if self._handle >= 0 and os.fstat(self._handle).st_nlink == 0:
            self.close()
        if self._handle < 0:
            self._open()

    def _write(self, lines: bytes) -> None:
        if os.write(self._handle, lines) != len(lines):
            os.ftruncate(self._handle, self._end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _sync(self) -> None:
        """After a failed sync the page cache no longer tells what is on disk, so nothing more may follow there."""
        try:
            sync(self._handle)
        except OSError:
            os.ftruncate(self._handle, self._end)
            self.close()
            raise

    def _drop_torn(self) -> None:
        """Cut off what an interrupted append left behind its last whole line. Whole lines stay: a reader may have seen
        them."""
        size = os.fstat(self._handle).st_size
        if size != self._end:
            left = os.pread(self._handle, size - self._end, self._end)
            self._end += left.rfind(b"\n") + 1
            os.ftruncate(self._handle, self._end)

    def _open(self) -> None:
        """A new file, named only once it is locked: a journal that nobody holds is taken for a dead one."""
        make(self._folder)
        name, fresh, handle = self._create(f"{host()}-{os.getpid()}")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        fresh.rename(self._folder / f"{name}.jsonl")
        sync_folder(self._folder)
        self._handle, self._name, self._end, self._minted = handle, name, 0, 0

    def _create(self, prefix: str) -> tuple[str, Path, int]:
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        for _ in range(TRIES):
            name = f"{prefix}-{self._ids()[:12]}{self._tag}"
            fresh = self._folder / f"{name}.new"
            if not (self._folder / f"{name}.jsonl").exists():
                return name, fresh, os.open(fresh, flags, PRIVATE_FILE)
        raise OSError(errno.EEXIST, "ids are not unique")


@dataclass(frozen=True, slots=True)
class Tail:
    """What a journal holds from some offset on: its records, the offset behind its last whole line, and how many lines
    were damaged."""

    records: tuple[Record, ...]
    end: int
    damaged: int


def journals(folder: Path) -> list[Path]:
    """Every journal there, of the living and the dead. What is no file, such as a pipe that would be waited for, is
    none."""
    try:
        with os.scandir(folder) as there:
            return sorted(Path(each) for each in there if each.name.endswith(".jsonl") and each.is_file())
    except FileNotFoundError:
        return []


def read(path: Path, start: int = 0, session: str | None = None) -> Tail:
    """The records behind offset `start`, of one session or of all. A journal that is gone has been folded whole: it
    reads as empty."""
    needle = f'"session":{dense(session)}'.encode("utf-8", "replace") if session is not None else b""
    records: list[Record] = []
    end, damaged = start, 0
    for line in _lines(path, start):
        end += len(line)
        if needle not in line:
            continue
        record = decode(line[:-1])
        if record is None:
            damaged += 1
        elif session is None or record.session == session:
            records.append(record)
    return Tail(tuple(records), end, damaged)


def abandoned(places: Places) -> list[Path]:
    """The journals whose writers are gone for certain. Where locks do not tell whether somebody lives, or where a
    journal is of a computer from which they do not, none is."""
    if places.near:
        return []
    unsure = tuple(f"{name}-" for name in distrusted(places.root))
    return [path for path in journals(places.journals) if not path.name.startswith(unsure) and not _alive(path)]


def _alive(path: Path) -> bool:
    """Whether the writer of this journal may still hold it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(handle, fcntl.LOCK_SH)
    except OSError:
        return True
    finally:
        os.close(handle)


def _lines(path: Path, start: int) -> Iterator[bytes]:
    """Whole lines only."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        for line in file:
            if line.endswith(b"\n"):
                yield line
