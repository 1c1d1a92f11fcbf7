"""`Delegator`: an agent's subagents: its model's, by a tool; a person's, between turns; and those that a crash left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress

from hermes_kernel.checks import affordable, limited
from hermes_kernel.core.budget import LEAST
from hermes_kernel.core.events import Event, Spent
from hermes_kernel.delegating.child import Terms
from hermes_kernel.delegating.delegation import Delegation, checked
from hermes_kernel.delegating.purse import Allowance
from hermes_kernel.delegating.recovering import take_back
from hermes_kernel.delegating.report import Report
from hermes_kernel.delegating.tasks import Tasks
from hermes_kernel.delegating.team import Team
from hermes_kernel.errors import explained
from hermes_kernel.playing import Player, Work
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.tools import Tool


class Delegator:
    """Hands work over for the agent of ``session``, whose turns ``player`` plays."""

    def __init__(self, resources: Resources, session: Session, player: Player) -> None:
        self._resources = resources
        self._session = session
        self._player = player
        self._delegation = Delegation(resources, session, lambda: resources.equipment.settings.delegate_depth)

    def tool(self) -> Tool:
        """The tool ``delegate``, with which its model hands work over within a turn."""
        return self._delegation.tool()

    def take_back(self) -> None:
        """Close the subagents of a turn that a crash cut off.

        Raises:
            StoreError: the log cannot be written.
        """
        take_back(self._session, self._resources.store)

    async def delegate(  # noqa: PLR0913 - what a person may want to say, each by its name
        self, tasks: Tasks, *, budget: int | None = None, tools: Sequence[str] | None = None,
        namespace: bool = False, timeout: float | None = None, watch: Callable[[Event], object] | None = None,
    ) -> tuple[Report, ...]:  # fmt: skip
        """Have subagents do `tasks` side by side, between two turns; their reports, in that order.

        Args:
            tasks: briefs in words, or `Task`s, or mappings of a `Task`'s fields. A subagent sees nothing else.
            budget: model calls all of them may make together; None: `settings.max_iterations`.
            tools: names of the only tools they have, for tasks that name none; None: the agent's.
            namespace: their `python` works in the agent's namespace, in turns, instead of a process of their own.
            timeout: seconds they may take; None: `settings.delegate_seconds`, 0: no limit.
            watch: called with everything that happens: `Leased`, `Subagent`, `Returned`.

        Raises:
            HermesError: a turn is running, a task cannot be handed over, or a tool is unknown.
            NoEndpoint: there is no model to ask.
        """
        equipment = self._resources.equipment
        calls = affordable(equipment.settings.max_iterations if budget is None else budget, LEAST)
        seconds = equipment.settings.delegate_seconds if (given := limited(timeout)) is None else given
        equipment.models.main()
        lane = asyncio.Lock() if namespace else None
        terms = Terms(self._session.turn.session_id, equipment.tools, self._delegation.below(), lane)
        with self._player.working(Work.DELEGATE) as stop, explained():
            allowance = Allowance(calls, watch)
            async with aclosing(equipment.servers.ready(stop)) as told:
                async for noticed in told:
                    await allowance.tell(noticed)
            equipment.offered(tools)
            team = Team(self._resources, terms, allowance.purse(), checked(tasks, terms, tools))
            with self._paid(allowance):
                return await team.work(stop, seconds)

    @contextmanager
    def _paid(self, allowance: Allowance) -> Iterator[None]:
        """However a person's subagents end, what they cost is in the usage of the conversation. A store that cannot be
        written now is told of it later; the reports are not lost for that."""
        try:
            yield
        finally:
            with suppress(StoreError):
                self._session.keep(Spent(allowance.usage, "subagents", itemised=True))
