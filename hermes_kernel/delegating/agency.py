"""What an agent has of this package: subagents for its model, subagents for a person, and those a crash left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_kernel.equipment import Equipment
from hermes_kernel.playing import Player
from hermes_kernel.session import Session
from hermes_kernel.world.blocking import Blocking
from hermes_kernel.world.ports import Archive, Clock

if TYPE_CHECKING:
    from hermes_kernel.delegating.delegation import Delegation
    from hermes_kernel.delegating.report import Report
    from hermes_kernel.delegating.tasks import Tasks


class Delegates:
    """An agent that can hand work to others."""

    store: Archive
    _session: Session
    _equipment: Equipment
    _player: Player
    _blocking: Blocking
    _delegation: Delegation

    async def delegate(self, tasks: Tasks, **wishes: Any) -> tuple[Report, ...]:
        """Have subagents do `tasks` side by side, between turns; see `delegating.delegation.Delegation.between_turns`
        for what may be wished (``budget``, ``tools``, ``namespace``, ``timeout``, ``watch``) and what is raised."""
        return await self._delegation.between_turns(self._player, tasks, **wishes)

    def delegate_sync(self, tasks: Tasks, **wishes: Any) -> tuple[Report, ...]:
        """`delegate` from plain code, as `ask_sync`."""
        return self._blocking.run(self.delegate(tasks, **wishes))

    def _delegating(self, clock: Clock, ids: Callable[[], str]) -> Delegation:
        """What hands work over; its tool is offered from now on."""
        from hermes_kernel.delegating.child import Kin
        from hermes_kernel.delegating.delegation import Delegation

        kin = Kin(self._equipment, self.store, clock, ids)
        made = Delegation(kin, self._session, lambda: self._equipment.settings.delegate_depth)
        self._equipment.tools.add(made.tool())
        return made

    def _take_back(self) -> None:
        """Close the subagents of a turn that a crash cut off."""
        from hermes_kernel.delegating.recovering import take_back

        take_back(self._session, self.store)
