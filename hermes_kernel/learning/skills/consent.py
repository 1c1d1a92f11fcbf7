"""Who may change which skill without asking: what a person has said, and what follows where nobody has said anything.

A model changes what models made. What a person made or installed it changes only where the person agrees: to the call,
in a turn in which they can be asked; or later, to a proposal. Nothing suspicious is put in place without somebody who
has seen what is suspicious in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learnt import SkillChanged
from hermes_kernel.learning.proposals import Proposal

MODELS = frozenset({"model", "nudge", "review", "curator"})
THEIRS = frozenset({"person", "installed"})
"""Origins of skills that belong to a person."""


class Consent(Enum):
    """What a person has said to a change: nothing; that they want to see it first; yes to the call; yes, knowing what
    is suspicious in it."""

    NONE = "none"
    ASK = "ask"
    CALL = "call"
    INFORMED = "informed"


class NeedsConsent(SkillError):
    """Something in it is suspicious, and the person who wants it has not said yes to that yet."""

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


def has_to_wait(by: str, origin: str, consent: Consent, findings: Iterable[Finding]) -> str:
    """Why a change by `by` of a skill of this origin has to be proposed first; "" where it need not."""
    if consent is Consent.INFORMED:
        return ""
    if by in MODELS and any(findings):
        return "something in it is suspicious"
    if consent is Consent.ASK:
        return "the person wants to see every change of skills first (skill_writes = ask)"
    if by in MODELS and origin in THEIRS and consent is Consent.NONE:
        return "the skill is the person's own"
    return ""


def refused(what: str, findings: tuple[Finding, ...]) -> NeedsConsent:
    """What a person is told who did not know of the findings, which whoever shows it adds."""
    return NeedsConsent(f"{what}: something in it is suspicious.", findings)


def sentence(finding: Finding) -> str:
    """A finding as a person reads it."""
    where = f" (line {finding.line})" if finding.line else ""
    return f"{finding.what}{where}" + (f": {finding.excerpt}" if finding.excerpt and finding.kind != "script" else "")
