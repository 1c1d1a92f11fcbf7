"""One of the two files: read whoever wrote it, and replaced only where it still is what was read. Somebody may write
into it or put another in its place at any moment, with an editor that knows no lock: theirs stands, then."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from hermes_kernel.core.learning.memory import SEPARATOR
from hermes_kernel.core.learning.memory_text import Reading, read
from hermes_kernel.world.store.disk import FULL, PRIVATE_FILE, StoreError, full, make, sync_folder
from hermes_kernel.world.store.locks import Busy, held

LARGEST = 4_000_000  # bytes; one in use has 2,200 characters
PATIENCE = 20.0  # seconds for a change that another process is making; one takes milliseconds


@dataclass(frozen=True, slots=True)
class Found:
    """What was in a file when it was read: its bytes, none where there was no file, its entries, and its number."""

    raw: bytes | None
    reading: Reading
    number: int = 0

    @property
    def entries(self) -> tuple[str, ...]:
        return self.reading.entries


class NoteFile:
    """The file at `path`; where that is a link, what it names. Whoever changes it holds it `alone`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Found:
        """What is in it now.

        Raises:
            StoreError: it cannot be read.
        """
        with explaining(self.path):
            raw = self._raw()
            number = self.path.stat().st_ino if raw is not None else 0
        return Found(raw, read(raw or b""), number)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep out whoever knows the lock, the original agent too: it is the same file.

        Raises:
            StoreError: another process does not let go of it, or there can be no lock.
        """
        try:
            with explaining(self.path), held(self.path.with_name(f"{self.path.name}.lock"), PATIENCE):
                yield
        except Busy:
            raise StoreError(
                f"another process has been changing {self.path} for {PATIENCE:g} seconds: stop it there"
            ) from None

    @contextmanager
    def prepared(self, entries: Sequence[str]) -> Iterator[Path]:
        """A file beside it that holds `entries`, on disk; gone in the end unless it took its place.

        Raises:
            OSError: the disk is full or does not take it.
        """
        real = _real(self.path)
        make(real.parent)
        fresh = real.with_name(f".{real.name}.fresh")
        try:
            _write(fresh, SEPARATOR.join(entries).encode(), os.O_TRUNC)
            yield fresh
        finally:
            fresh.unlink(missing_ok=True)

    def still(self, found: Found) -> bool:
        """Whether nobody has changed it since."""
        return self._raw() == found.raw

    def swap(self, found: Found, fresh: Path) -> bool:
        """Put `fresh` in its place, or nothing where it is not what was `found` any more. What somebody wrote into it
        in the very moment is there again; what they write later is found by `late`."""
        real = _real(self.path)
        aside = _aside(real)
        aside.unlink(missing_ok=True)
        with suppress(OSError):  # a disk without such names
            aside.hardlink_to(real)
        if not self.still(found):
            return False
        fresh.replace(real)
        written = aside.exists() and aside.read_bytes() != found.raw
        if written:
            aside.replace(real)
        sync_folder(real.parent)
        return not written

    def late(self, replaced: int, digest: str) -> tuple[str, ...] | None:
        """The entries of the file that was replaced last, where somebody who had it open wrote into it since: it was
        file number `replaced` and had this `digest`. None where nobody did."""
        real = _real(self.path)
        with suppress(OSError):
            aside = _aside(real)
            if aside.stat().st_ino != replaced or (real.exists() and real.samefile(aside)):
                return None
            raw = aside.read_bytes()
            return read(raw).entries if digested(raw) != digest else None
        return None

    def keep_beside(self, found: Found) -> None:
        """Keep all the bytes of a file that entries cannot say, before it is written anew: ``MEMORY.md.bak``, or with
        a number where that is taken by another.

        Raises:
            OSError: the disk is full or does not take it.
        """
        if found.reading.faithful or found.raw is None:
            return
        names = (f"{self.path.name}.bak{f'.{number}' if number > 1 else ''}" for number in count(1))
        next(name for name in names if _has(self.path.with_name(name), found.raw))

    def _raw(self) -> bytes | None:
        if not self.path.exists():
            return None
        if not self.path.is_file() or self.path.stat().st_size > LARGEST:
            raise StoreError(f"{self.path} is no file of at most {LARGEST:,} bytes: move what does not belong there")
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """What the disk refuses, as a `StoreError` of one line that says what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        why = f"cannot use {path} ({error.strerror or error}): make it readable and writable; what is remembered stands"
        raise StoreError(full(path.parent) if error.errno in FULL else why) from error


def digested(raw: bytes | None) -> str:
    """What tells some bytes from others."""
    return hashlib.sha256(raw or b"").hexdigest()


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:
        raise StoreError(f"{path} is a link that leads to itself: remove it") from None


def _aside(real: Path) -> Path:
    """The second name of what was replaced last."""
    return real.with_name(f".{real.name}.before")


def _has(path: Path, raw: bytes) -> bool:
    """Whether `path` holds `raw`, now if not before; not where it is taken by something else."""
    try:
        _write(path, raw, os.O_EXCL)
    except FileExistsError:
        return path.is_file() and path.read_bytes() == raw
    return True


def _write(path: Path, content: bytes, how: int) -> None:
    handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | how, PRIVATE_FILE)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
