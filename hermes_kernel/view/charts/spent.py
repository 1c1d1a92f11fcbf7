"""The budget of a turn as a bar, from the budget itself: what is spent, out with subagents, and left. Pure."""

from __future__ import annotations

from hermes_kernel.core.budget import IterationBudget
from hermes_kernel.core.figures import counted
from hermes_kernel.view.turn.meters import HARDLY, LITTLE, Meter, Part


def spent_of(budget: IterationBudget) -> Meter:
    """A bar with its words: amber and red as little is left, which the words say with a number."""
    left, tone = budget.remaining, _tone(budget.remaining, budget.limit)
    lent = [f"{budget.leased} leased to {counted(len(budget.leases), 'subagent')}"] if budget.leases else []
    words = " · ".join([f"{budget.spent} spent", *lent, f"{left} left of {budget.limit}"])
    parts = (Part("spent", budget.spent, tone), Part("leased", budget.leased, tone), Part("left", left))
    return Meter("budget", parts, budget.limit, words)


def _tone(left: int, of: int) -> str:
    if left <= HARDLY * of:
        return "bad"
    return "slow" if left <= LITTLE * of else "busy"
