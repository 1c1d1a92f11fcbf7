"""``%hermes doctor``: whether everything is there that a turn needs, and what to do about what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.doctor import examine
from hermes_kernel.doctor.finding import Finding, State
from hermes_kernel.view import escape
from hermes_kernel.view.kept.spread import columns, heading, spread
from hermes_kernel.view.look import QUIET
from hermes_kernel.view.markup import typed
from magics.commands.standing import nothing
from magics.commands.table import Table

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
    then = f'<span style="color:{QUIET}">to do:</span> {typed(escape(finding.then))}' if finding.then else ""
    head = heading(finding.what, str(finding.state), TONES[finding.state])
    line = columns((head, "0 0 12em"), (typed(escape(finding.said)), "3 1 16em"), (then, "2 1 14em"))
    return f'<div style="padding:2px 0;max-width:100%">{line}</div>'
