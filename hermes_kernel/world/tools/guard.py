"""Keeps a turn from repeating itself: the same call that failed twice in a row is not run a third time.

"In a row" means that nothing which may have changed the world succeeded in between, so a test that is run again after
each edit is never held back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_kernel.core.text import brief

FAILURES = 2
SUCCESSES = 4  # the original warns at 2 and never stops; polling a job three times is ordinary work

Signature = tuple[str, str]


@dataclass(slots=True)
class Guard:
    """What one turn has tried. Made anew for each turn."""

    failed: dict[Signature, int] = field(default_factory=dict)
    succeeded: dict[Signature, int] = field(default_factory=dict)
    reasons: dict[Signature, str] = field(default_factory=dict)
    refusals: dict[Signature, str] = field(default_factory=dict)

    def objection(self, signature: Signature) -> str:
        """Why this call is not run again, or ``""``."""
        if signature in self.refusals:
            return self.refusals[signature]
        if self.failed.get(signature, 0) < FAILURES:
            return ""
        return (
            f"Not run: this exact call has failed {FAILURES} times in a row in this turn, last with: "
            f"{brief(self.reasons[signature], 300)} Change the arguments, use another tool, or say what is in the way."
        )

    def refused(self, signature: Signature, reason: str) -> None:
        """A person or a rule said no: the same question is not asked again in this turn, whatever succeeds in it."""
        self.refusals[signature] = reason

    def record(self, signature: Signature, text: str, *, ok: bool, harmless: bool) -> str:
        """Remember a result. Returns a note to put under it, or ``""``. ``harmless``: the tool changes nothing."""
        if not ok:
            self.failed[signature] = self.failed.get(signature, 0) + 1
            self.reasons[signature] = text
            return ""
        count = self.succeeded[signature] = self.succeeded.get(signature, 0) + 1
        if harmless:
            self.failed.pop(signature, None)
        else:
            self.failed.clear()
        if count < SUCCESSES:
            return ""
        return (
            f"\n\n(Note: this exact call has now been made {count} times in this turn; go on if nothing new can come.)"
        )
