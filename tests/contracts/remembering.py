"""What the tests of memory share: a home in which something is remembered, and the original agent's own way with its
files."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.core.learning.memory import Limits, Operation
from hermes_kernel.core.redact import redact
from hermes_kernel.learning.memory import Memory
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store.memory import MemoryLog


@dataclass
class Kept:
    """One process's view of a home."""

    memory: Memory
    proposals: Proposals
    chronicle: Chronicle
    folder: Path

    def facts(self):
        return [past.fact for past in self.memory.history()]

    def add(self, text, target="memory", by="model", **more):
        return self.memory.apply(target, [Operation("add", text)], by=by, **more)

    def on_disk(self, target="memory"):
        return self.memory.path(target).read_bytes()

    def write(self, raw, target="memory"):
        """As a person does with an editor."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.memory.path(target).write_bytes(raw if isinstance(raw, bytes) else raw.encode())


def kept(home: Path, log: Archive | None = None, chars=2200, user=1375, secrets=frozenset()) -> Kept:
    ids = (f"{os.getpid()}-{n}" for n in itertools.count())
    chronicle = Chronicle(log or MemoryLog(), lambda: next(ids))
    proposals = Proposals(home, SystemClock(), lambda: next(ids))
    memory = Memory(home, lambda: Limits(chars, user), chronicle, proposals, redact=lambda t: redact(t, secrets))
    return Kept(memory, proposals, chronicle, home / "memories")


def read_by_the_original(path: Path) -> list[str]:
    """The entries as hermes-agent 0.19.0 reads them."""
    raw = path.read_text(encoding="utf-8")
    entries = [each.strip() for each in raw.split("\n§\n")]
    return list(dict.fromkeys(each for each in entries if each))


def drifted_for_the_original(path: Path, limit: int) -> bool:
    """Whether it would refuse to change the file, as one that it did not write."""
    raw = path.read_text(encoding="utf-8")
    parsed = [each.strip() for each in raw.split("\n§\n") if each.strip()]
    return raw.strip() != "\n§\n".join(parsed) or max(map(len, parsed), default=0) > limit


def written_by_the_original(path: Path, entries: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write("\n§\n".join(entries))
