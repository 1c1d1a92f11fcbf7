"""Which of the recorded changes are this home's. Machines that share a store see each other's facts, and each remembers
for itself: a line in a file of the home, written before the fact is, tells its own."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hermes_kernel.core.learnt import Dated, Remembered
from hermes_kernel.world.store.disk import PRIVATE_FILE, make

FILE = "remembered"


class Ours:
    """The file in `home`."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def add(self, fact: Remembered) -> None:
        """It is about to be recorded.

        Raises:
            OSError: the disk is full or does not take it.
        """
        make(self._path.parent)
        handle = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(f"\n{_digest(fact)}".encode())  # behind a line that a full disk may have cut

    def of(self, dated: Iterable[Dated]) -> list[tuple[float, Remembered]]:
        """Those of this home, and when they came."""
        with suppress(OSError):
            ours = frozenset(self._path.read_text("ascii", "replace").split())
            found = ((each.t, each.fact) for each in dated)
            return [(t, fact) for t, fact in found if isinstance(fact, Remembered) and _digest(fact) in ours]
        return []


def _digest(fact: Remembered) -> str:
    plain = [fact.target, list(fact.before), list(fact.after), fact.by, fact.session, fact.why]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()
