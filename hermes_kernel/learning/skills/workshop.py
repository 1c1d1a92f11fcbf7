"""Where skills are made and changed: each verb whole or not at all, under one lock, with what was before in the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learnt import SkillChanged
from hermes_kernel.core.redact import redact
from hermes_kernel.learning.chronicle import Chronicle
from hermes_kernel.learning.proposals import Proposal, Proposals
from hermes_kernel.learning.skills.history import History
from hermes_kernel.world.tools.tool import Tool

if TYPE_CHECKING:
    from hermes_kernel.learning.skills.library import Library


class NeedsConsent(SkillError):
    """Something in it is suspicious, and whoever wants it is a person who has not said yes to that yet."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a verb. ``change`` is what was recorded, ``diff`` a unified diff of it; with a ``proposal`` nothing
    was changed: it waits for the person. ``text`` says it in a line or two, ``findings`` what is suspicious."""

    text: str
    change: SkillChanged | None = None
    diff: str = ""
    proposal: Proposal | None = None
    findings: tuple[Finding, ...] = ()


class Workshop:
    """That of the skills under ``home/skills``. ``redact`` takes secrets out of text. Every verb raises `SkillError` for
    what cannot be done, in a line or two; then nothing was changed."""

    def __init__(  # noqa: PLR0913
        self, library: Library, history: History, chronicle: Chronicle, proposals: Proposals, home: Path,
        *, redact: Callable[[str], str] = redact,
    ) -> None:  # fmt: skip
        raise NotImplementedError

    def create(self, name: str, content: str, *, category: str = "", by: str, session: str = "", why: str = "") -> Done:
        """A new skill with this SKILL.md."""
        raise NotImplementedError

    def patch(self, name: str, old: str, new: str, *, file: str = "", every: bool = False, diff: str = "",
              by: str, session: str = "", why: str = "") -> Done:  # fmt: skip
        """One passage of a file (SKILL.md) for another, or a whole ``diff``."""
        raise NotImplementedError

    def edit(self, name: str, content: str, *, by: str, session: str = "", why: str = "") -> Done:
        """All of SKILL.md anew."""
        raise NotImplementedError

    def write_file(self, name: str, file: str, content: str, *, by: str, session: str = "", why: str = "") -> Done:
        """A file of a skill other than SKILL.md, new or anew."""
        raise NotImplementedError

    def remove_file(self, name: str, file: str, *, by: str, session: str = "", why: str = "") -> Done:
        """A file of a skill less."""
        raise NotImplementedError

    def archive(self, name: str, *, by: str, session: str = "", why: str = "") -> Done:
        """Move it to ``skills/.archive/NAME``."""
        raise NotImplementedError

    def restore(self, name: str, *, by: str, session: str = "", why: str = "") -> Done:
        """Bring it back from there, by its exact name, to its category."""
        raise NotImplementedError

    def archived(self) -> tuple[str, ...]:
        """The names that `restore` takes."""
        raise NotImplementedError

    def changes(self, name: str) -> tuple[tuple[int, float, SkillChanged], ...]:
        """What became of a skill: number (from 1), seconds since 1970-01-01 UTC, fact; the oldest first."""
        raise NotImplementedError

    def undo(self, name: str, number: int = 0, *, by: str, session: str = "", why: str = "") -> Done:
        """Bring back what was before change `number` (0: the latest). An undo is a change like any other."""
        raise NotImplementedError

    def put(self, name: str, tree: str, *, action: str, by: str, session: str = "", why: str = "") -> Done:
        """Have the folder of a skill be `tree` of the history (""; none): for a rollback."""
        raise NotImplementedError

    def install(self, path: Path, *, by: str = "person", category: str = "", anyway: bool = False,
                replace: bool = False) -> Done:  # fmt: skip
        """The skill in a folder or a zip. `anyway`: the person knows the findings."""
        raise NotImplementedError

    def uninstall(self, name: str, *, by: str = "person", why: str = "") -> Done:
        """Take it out of the skills. The history keeps it, and `undo` brings it back."""
        raise NotImplementedError

    def accept(self, proposal: Proposal, *, by: str = "person") -> Done:
        """Do what was proposed, with the person's consent to what is suspicious in it."""
        raise NotImplementedError

    def tool(self, session: Callable[[], str], by: str, writes: Callable[[], str],
             present: Callable[[], bool] = bool) -> Tool:  # fmt: skip
        """``skill_manage``. ``writes`` says ``on``, ``ask`` or ``off``; ``present`` whether a person can be asked."""
        raise NotImplementedError
