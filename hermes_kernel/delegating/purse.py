"""The budget that subagents share, lent call by call: what is lent is on record before anyone works with it.

To look how much is left and to promise a part of it is one step, so that two that ask at once never get the same call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from hermes_kernel.core.budget import IterationBudget, share
from hermes_kernel.core.events import Event, Leased, Returned
from hermes_kernel.core.messages import Usage


class Purse:
    """A turn's budget: ``budget`` reads it as it is, ``tell`` records facts in it, ``beside`` is as in `share`. Several
    that lend of one budget have one dictionary of what they have ``promised``: leases on their way to the record.
    ``call_id`` is the tool call for which it lends."""

    def __init__(
        self,
        budget: Callable[[], IterationBudget],
        tell: Callable[[Event], Awaitable[None]],
        promised: dict[str, int],
        beside: int = 1,
        call_id: str = "",
    ) -> None:
        self.tell = tell
        self._call_id = call_id
        self._budget = budget
        self._promised = promised
        self._beside = beside

    @property
    def remaining(self) -> int:
        """Calls that are neither spent nor lent nor promised."""
        return self._budget().remaining - sum(self._promised.values())

    async def lend(self, lease: str, task: str, asked: Sequence[int | None]) -> int:
        """Calls for the first of those who wait, recorded under `lease`; 0 where there are none, or the record is
        closed."""
        calls = share(self.remaining, asked, self._beside)
        if not calls:
            return 0
        self._promised[lease] = calls
        try:
            await self.tell(Leased(lease, calls, task, self._call_id))
        finally:
            del self._promised[lease]
        return dict(self._budget().leases).get(lease, 0)


class Allowance:
    """A budget of its own for subagents that no turn asked for, and what they cost. ``watch`` is called with everything
    that happens."""

    def __init__(self, calls: int, watch: Callable[[Event], object] | None) -> None:
        self.budget = IterationBudget(calls)
        self.usage = Usage()
        self._watch = watch

    async def tell(self, event: Event) -> None:
        """Record what is lent and what comes back."""
        match event:
            case Leased(lease, calls):
                self.budget = self.budget.lease(lease, calls)
            case Returned(lease, used, _, usage):
                self.budget = self.budget.settle(lease, used)
                self.usage += usage
            case _:
                pass
        if self._watch is not None:
            self._watch(event)

    def purse(self) -> Purse:
        """Lends all of it: nobody keeps a call."""
        return Purse(lambda: self.budget, self.tell, {}, beside=0)
