"""What was found suspicious in a content, known by its SHA-256, so that no process looks twice.

``skills/.hermes-kernel.scanned.json`` holds the contents in which nothing was found, by these very rules. It saves time
for lists only: before a model reads a text, this process has looked through it itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from pathlib import Path

from hermes_kernel.core.learning import threats as rules
from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.threats import threats
from hermes_kernel.world.store.disk import plain_in, put

FILE = ".hermes-kernel.scanned.json"
REMEMBERED = 50_000  # contents; 3.3 MB in the file
LARGEST = 8_000_000  # bytes of it
HEX = frozenset("0123456789abcdef")


class Scanned:
    """Of the skills under `skills`. Safe from any thread."""

    def __init__(self, skills: Path) -> None:
        self._path = skills / FILE
        self._here: dict[str, tuple[Finding, ...]] = {}
        self._before: frozenset[str] | None = None
        self._kept = 0
        self._lock = threading.Lock()

    def known(self, digest: str) -> tuple[Finding, ...] | None:
        """What was found in it, here or by another process; None where nobody has looked."""
        with self._lock:
            if digest in self._here:
                return self._here[digest]
            if self._before is None:
                self._before = _loaded(self._path)
            return () if digest in self._before else None

    def scan(self, digest: str, *texts: str) -> tuple[Finding, ...]:
        """What this process finds in `texts`, all there is to say of the content `digest`."""
        with self._lock:
            if digest in self._here:
                return self._here[digest]
        found = tuple(each for text in texts for each in threats(text))
        with self._lock:
            if len(self._here) >= REMEMBERED:
                self._here.clear()
                self._kept = 0
            self._here[digest] = found
        return found

    def keep(self) -> None:
        """Have other processes know, if there is something new. Where it cannot be written they look for themselves."""
        with self._lock:
            clean = {digest for digest, found in self._here.items() if not found}
            if len(clean) == self._kept or clean <= (self._before or frozenset()):
                return
            self._kept = len(clean)
        with suppress(OSError):
            together = sorted(_loaded(self._path) | clean)[:REMEMBERED]
            fresh = self._path.with_name(f"{FILE}.{os.getpid()}.{threading.get_ident()}")
            put(json.dumps({"rules": _rules(), "clean": together}).encode(), self._path, fresh)


def _loaded(path: Path) -> frozenset[str]:
    """The contents named in the file, if it is ours, whole and by the rules of now."""
    plain = plain_in(path, LARGEST)
    if plain.get("rules") != _rules() or not isinstance(plain.get("clean"), list):
        return frozenset()
    return frozenset(
        each for each in plain["clean"] if isinstance(each, str) and len(each) == 64 and HEX.issuperset(each)
    )


def _rules() -> str:
    """The rules by which is looked, as one word: another once their source is another."""
    folder = Path(rules.__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(folder.glob("threat*.py")))
    return hashlib.sha256(sources).hexdigest()[:32]
