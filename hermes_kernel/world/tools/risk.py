"""Why a call needs a person's word. A guard against accidents, not a sandbox: whoever means harm finds a way round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

TOLD = 3  # reasons at most


@dataclass(frozen=True, slots=True)
class Risk:
    """``rule`` is what an answer of "always" is kept under, and ``also`` are those of what else the call does: a yes to
    one kind is none to another. ``forbidden`` ones are never run, whoever says so."""

    rule: str
    why: str
    forbidden: bool = False
    also: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """All that a yes has to be for."""
        return (self.rule, *self.also)


def together(found: Iterable[Risk | None]) -> Risk | None:
    """The one risk of a call that has these: a forbidden one, or else all of them."""
    risks = [risk for risk in found if risk]
    if forbidden := next((risk for risk in risks if risk.forbidden), None):
        return forbidden
    if not risks:
        return None
    first, *others = dict.fromkeys(rule for risk in risks for rule in risk.rules)
    reasons = list(dict.fromkeys(risk.why for risk in risks))
    more = f", and {len(reasons) - TOLD} things more" if len(reasons) > TOLD else ""
    return replace(risks[0], rule=first, why=", and ".join(reasons[:TOLD]) + more, also=tuple(others))
