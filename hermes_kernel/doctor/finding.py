"""What one look finds, and all of them as text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a finding stands: a ``problem`` keeps turns from working, a ``note`` is worth knowing."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``then`` is what to do next, empty when there is nothing to do."""

    what: str
    state: State
    said: str
    then: str = ""


def report(findings: tuple[Finding, ...]) -> str:
    """The findings as lines of text."""
    marks = {State.OK: "ok     ", State.NOTE: "note   ", State.PROBLEM: "PROBLEM"}
    lines = []
    for finding in findings:
        lines.append(f"{marks[finding.state]}  {finding.what}: {finding.said}")
        if finding.then:
            lines.append(f"         → {finding.then}")
    return "\n".join(lines)
