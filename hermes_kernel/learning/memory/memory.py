"""What is remembered, for whoever reads or changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.memory import Change, Limits, Operation
from hermes_kernel.core.learnt import Remembered
from hermes_kernel.core.redact import redact
from hermes_kernel.learning.chronicle import Chronicle
from hermes_kernel.learning.proposals import Proposal, Proposals
from hermes_kernel.world.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Past:
    """Change number ``n``, counted from 1 in the order of time, made at ``t`` (seconds since 1970-01-01 UTC)."""

    n: int
    t: float
    fact: Remembered


class Memory:
    """The two files under `home`. ``redact`` takes secrets out of text."""

    def __init__(
        self, home: Path, limits: Callable[[], Limits], chronicle: Chronicle, proposals: Proposals,
        *, redact: Callable[[str], str] = redact,
    ) -> None:  # fmt: skip
        raise NotImplementedError

    def entries(self, target: str) -> tuple[str, ...]:
        """The entries of ``memory`` or ``user``.

        Raises:
            StoreError: the file cannot be read.
        """
        raise NotImplementedError

    def apply(  # noqa: PLR0913 - who changes what, and why
        self, target: str, operations: Sequence[Operation], *, by: str, session: str = "", why: str = "",
        consent: bool = False,
    ) -> Change:  # fmt: skip
        """Do all of it or nothing, on what is in the file at this moment. ``consent``: a person knows what is
        suspicious in it and wants it.

        Raises:
            MemoryFull: it would be longer than it may be.
            MemoryThreat: an entry is suspicious and there is no consent.
            MemoryRefused: an operation cannot be done.
            StoreError: the disk is full or the home is read-only.
        """
        raise NotImplementedError

    def propose(  # noqa: PLR0913 - who changes what, and why
        self, target: str, operations: Sequence[Operation], *, by: str, session: str = "", why: str = "",
        findings: Iterable[Finding] = (),
    ) -> Proposal:  # fmt: skip
        """Leave it for the person to decide."""
        raise NotImplementedError

    def accept(self, proposal: Proposal) -> Change:
        """Do what was proposed, with the person's consent. Raises as `apply`; then it still waits."""
        raise NotImplementedError

    def edit(self, target: str, text: str, by: str, *, base: Sequence[str] | None = None) -> Change:
        """Have the file hold the entries in `text`; ``base`` is what it held when it was begun to be edited."""
        raise NotImplementedError

    def undo(self, by: str, number: int = 0) -> Change:
        """Take back change `number` (0: the latest) and nothing that came since."""
        raise NotImplementedError

    def history(self, n: int = 0) -> tuple[Past, ...]:
        """The latest `n` changes (0: all), the oldest first."""
        raise NotImplementedError

    def block(self) -> str:
        """What a system prompt says of it; ``""`` when nothing is remembered."""
        raise NotImplementedError

    def tool(self, session: Callable[[], str], by: str, writes: Callable[[], str]) -> Tool:
        """The tool ``memory``; ``writes`` says ``on``, ``ask`` or ``off``."""
        raise NotImplementedError
