"""What is remembered: entries of two small files, as the original agent writes them. Here is what a change makes of
them. Knows no file, no clock and no prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.text import brief

SEPARATOR = "\n§\n"  # between entries, as in the original's files
FILES = {"memory": "MEMORY.md", "user": "USER.md"}
TARGETS = tuple(FILES)
ACTIONS = ("add", "replace", "remove")
SHOWN = 120  # characters of an entry where it is one of several to choose from


class MemoryRefused(ValueError):
    """The change was not made, and nothing else was. One or more readable lines say why and what to do."""


class MemoryFull(MemoryRefused):
    """What would be remembered is longer than it may be. The text shows the entries and says how much has to go."""


class MemoryThreat(MemoryRefused):
    """An entry is suspicious, and nobody who may has consented to it."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


@dataclass(frozen=True, slots=True)
class Limits:
    """How many characters each of the two may have, separators included."""

    memory: int = 2200
    user: int = 1375

    def of(self, target: str) -> int:
        """That of ``memory`` or ``user``."""
        return self.user if target == "user" else self.memory


@dataclass(frozen=True, slots=True)
class Operation:
    """``action`` is ``add``, ``replace`` or ``remove``; ``old`` a part of the entry meant that no other has, or all of
    it; ``content`` the new one."""

    action: str
    content: str = ""
    old: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The entries of ``target`` were ``before`` and are ``after``, of which ``size`` characters of ``limit`` are taken;
    ``notes`` are sentences on what was done to them beyond what was asked."""

    target: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    limit: int
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def size(self) -> int:
        return size(self.after)


def size(entries: Sequence[str]) -> int:
    """Characters of the file that holds them."""
    return len(SEPARATOR.join(entries))
