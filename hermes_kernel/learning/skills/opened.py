"""A file of a skill that was opened, and who has read how much of it: by its content, not by when."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field

from hermes_kernel.core.learning.skill import Skill

READERS = 10_000  # files of sessions that are remembered; the oldest are forgotten and read again


@dataclass(frozen=True, slots=True)
class Opened:
    """The bytes of a file of a skill at one moment; ``text`` is None where they are none."""

    skill: Skill
    file: str
    raw: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 in hex digits."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str | None:
        """What it says, with U+FFFD for what is no UTF-8."""
        return None if b"\0" in self.raw else self.raw.decode("utf-8", "replace").removeprefix("\ufeff")


Reader = tuple[str, str, str]
"""A session, a skill, a file of it."""


@dataclass(frozen=True, slots=True)
class _Read:
    digest: str
    upto: int = 0
    whole: bool = False


class Readers:
    """What each has read. Safe from any thread."""

    def __init__(self) -> None:
        self._read: dict[Reader, _Read] = {}
        self._lock = threading.Lock()

    def saw(self, who: Reader, digest: str) -> None:
        """All of it."""
        with self._lock:
            self._keep(who, _Read(digest, whole=True))

    def saw_part(self, who: Reader, opened: Opened, start: int, end: int) -> None:
        """Its characters from `start` up to `end`; all of it once the parts of one content have no gap."""
        with self._lock:
            before = self._read.get(who, _Read(""))
            same = before if before.digest == opened.digest else _Read(opened.digest)
            upto = max(same.upto, end) if start <= same.upto else same.upto
            self._keep(who, _Read(opened.digest, upto, same.whole or upto >= len(opened.text or "")))

    def seen(self, who: Reader) -> str:
        """The digest of the content that was read whole, else ""."""
        with self._lock:
            read = self._read.get(who)
        return read.digest if read and read.whole else ""

    def _keep(self, who: Reader, read: _Read) -> None:
        self._read.pop(who, None)
        self._read[who] = read
        if len(self._read) > READERS:
            del self._read[next(iter(self._read))]
