"""Subagents that a crash left behind: closed when their parent is looked at again, so that what they used is known."""

from __future__ import annotations

from contextlib import suppress

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Returned
from hermes_kernel.core.turn import decide
from hermes_kernel.delegating.report import used
from hermes_kernel.session import Session
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import NoSession, StoreError


def take_back(session: Session, store: Archive) -> None:
    """Close the subagents of the turn at hand and take back what they did not use. One that another process is in keeps
    its lease; one that never wrote a word used nothing.

    Raises:
        StoreError: the log of `session` cannot be written.
    """
    if decide(session.turn) is None:
        return
    for lease, calls in session.turn.budget.leases:
        child = Session(store, session.turn.limits)
        try:
            gone = _closed(child, lease, store)
        except StoreError:
            continue
        turn = child.turn
        session.keep(Returned(lease, min(used(turn, calls) + gone, calls), turn.outcome, turn.usage))


def _closed(child: Session, lease: str, store: Archive) -> int:
    """Close it, and those below it; how many calls were out when it ended."""
    with suppress(NoSession):
        child.load(lease)
        take_back(child, store)
    out = isinstance(decide(child.turn), CallModel)
    child.close_turn("kernel")
    child.close()
    return int(out)
