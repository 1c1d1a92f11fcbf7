"""What a skill is to whoever lists, offers or tends it. Knows no disk: ``folder`` is only said, never opened here.

A skill's name is the name of its folder. What its texts say is data, whoever wrote them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from hermes_kernel.core.learning.finding import Finding

ORIGINS = ("agent", "person", "bundled", "installed")
"""Who a skill is from: a model made it, a person put it there, it came with this package, it was installed."""

MARKS = ("pinned", "unpinned", "disabled", "enabled", "trusted", "stale", "active")
"""What a skill can be marked as."""

NAMED = re.compile(r"[^\W_][\w.-]{0,127}")
"""A folder's name that can be a skill's: letters and digits of any script, then also ``- _ .``. Wider than the
standard's, which has lower case, digits and ``-`` alone; the original's names have dots and underscores."""


class SkillError(Exception):
    """Something about a skill that cannot be done: one or two lines that a person or a model can act on."""


class NoSkill(SkillError):
    """There is none of that name; the text names those that come close."""


class Withheld(SkillError):
    """It is there and may not be read: held, broken or archived. The text says why, and what a person can do."""


class State(Enum):
    """How it stands with a skill. The value is the word that is shown."""

    ACTIVE = "active"
    STALE = "stale"
    DISABLED = "disabled"
    HELD = "held"
    BROKEN = "broken"
    ARCHIVED = "archived"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. ``folder`` is the absolute path of its folder, ``category`` the folders between ``skills`` and that,
    with ``/``. ``digest`` is the SHA-256 of its SKILL.md in hex digits; ``trusted``: a person consented to just that
    content. ``why`` says why it is broken or held, ``findings`` what is suspicious in its SKILL.md, trusted or not."""

    name: str
    description: str
    folder: str
    category: str = ""
    origin: str = "person"
    state: State = State.ACTIVE
    pinned: bool = False
    trusted: bool = False
    digest: str = ""
    tags: tuple[str, ...] = ()
    why: str = ""
    findings: tuple[Finding, ...] = field(default=(), repr=False)

    @property
    def offered(self) -> bool:
        """A model may be told of it and read it."""
        return self.state in (State.ACTIVE, State.STALE)
