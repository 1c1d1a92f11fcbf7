"""The budget of a map as leases: a row has its calls set aside before it is asked, and brings back what it did not use.

However rows end, and wherever they are asked, no more calls are made than the budget allows.
"""

from __future__ import annotations

from hermes_kernel.core.budget import IterationBudget


class MapBudget:
    """``limit`` model calls in all (None: any number), of which earlier runs have ``spent`` some; ``each`` row gets at
    most so many."""

    def __init__(self, limit: int | None, spent: int, each: int) -> None:
        self.spent = spent
        self._each = each
        self._budget = None if limit is None else IterationBudget(max(limit, spent), spent)

    @property
    def empty(self) -> bool:
        """Nothing can be leased at this moment."""
        return self._budget is not None and self._budget.remaining < 1

    @property
    def lent(self) -> bool:
        """Some of it is leased, and may come back."""
        return self._budget is not None and self._budget.leased > 0

    def lease(self, name: str, sharing: int) -> int:
        """Calls for one row, so many that `sharing` rows could have as much; at least one.

        Raises:
            ValueError: it is empty.
        """
        if self._budget is None:
            return self._each
        calls = min(self._each, max(1, self._budget.remaining // max(sharing, 1)))
        self._budget = self._budget.lease(name, calls)
        return calls

    def settle(self, name: str, used: int) -> None:
        """A lease comes back, `used` of it spent."""
        self.spent += used
        if self._budget is not None:
            self._budget = self._budget.settle(name, used)
