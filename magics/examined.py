"""``%hermes doctor``: whether everything is there that a turn needs, and what to do about what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.doctor import examine
from hermes_kernel.doctor.finding import Finding, State
from hermes_kernel.view.spread import spread, thing
from magics.standing import nothing
from magics.table import Table

if TYPE_CHECKING:
    from magics.desk import Desk

TONES = {State.OK: "person", State.NOTE: "slow", State.PROBLEM: "bad"}


def doctor(desk: Desk, rest: str) -> Findings:
    """What was found; the value is a tuple of `doctor.finding.Finding`.

    Raises:
        HermesError: something follows.
    """
    nothing("doctor", rest)
    findings = examine(desk.settings)
    rows = tuple((str(each.state), each.what, each.said, each.then) for each in findings)
    return Findings(("", "what", "found", "what to do"), rows, findings)


class Findings(Table):
    """What was found. As HTML what to do stands beside it where there is room, else below it."""

    def _repr_html_(self) -> str:
        return spread(map(_shown, self.value))


def _shown(finding: Finding) -> str:
    state = "" if finding.state is State.OK else str(finding.state)
    told = [("", finding.said), ("to do:", finding.then)]
    return thing(finding.what, state or "ok", told, TONES[finding.state])
