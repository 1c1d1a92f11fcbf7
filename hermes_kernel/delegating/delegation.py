"""Handing work to subagents: within a turn by the tool `delegate`, between turns by a person.

The tool lends of the turn's own budget. A person's subagents have a budget of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from typing import Annotated, Any

from hermes_kernel.core.budget import LEAST
from hermes_kernel.core.events import Event, Spent
from hermes_kernel.delegating.child import Kin, Terms
from hermes_kernel.delegating.purse import Ledger, Purse
from hermes_kernel.delegating.report import Report, words
from hermes_kernel.delegating.tasks import BadTasks, Task, Tasks, tasks_of
from hermes_kernel.delegating.team import Team
from hermes_kernel.playing import Player
from hermes_kernel.session import HermesError, Session, readable
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.tools import NoTool, Result, Tool, ToolError, Tools
from hermes_kernel.world.tools.speaking import SPEAKER, Speaker
from hermes_kernel.world.tools.tool import built_in

DEADLINE = 8 * 86_400.0  # seconds; longer than any group may take, which ends itself in time
ROOM = 0.9  # of a result's characters
STOPPED = "Stopped. What the subagents had done until then is in their sessions: `%hermes sessions all`."
SPENT = (
    "Nothing was delegated: {} of your model calls remain, and a subagent needs {} besides your last one. "
    "Go on by yourself and come to an end."
)


class Delegation:
    """What the agent of ``session`` hands over. ``levels`` of subagents may stand below it."""

    def __init__(self, kin: Kin, session: Session, levels: Callable[[], int]) -> None:
        self._kin = kin
        self._session = session
        self._levels = levels
        self._promised: dict[str, int] = {}

    def tool(self) -> Tool:
        """The tool ``delegate``."""

        async def delegate(tasks: Annotated[list[Task | str], "One for each subagent; they run at once."]) -> Result:
            """Hand independent pieces of work to subagents that run side by side, and read their reports.
            For work of several steps whose details you need not see. Each has a fresh mind, a Python process of its own
            and your other tools; they share your budget of model calls."""
            return await self._in_turn(tasks)

        return replace(built_in(delegate, seconds=DEADLINE), closes=True)

    async def _in_turn(self, given: Any) -> Result:
        speaker = SPEAKER.get()
        if self._levels() < 1:
            raise ToolError("Subagents are switched off here (delegate_depth is 0): do the work yourself.")
        tasks, terms = self._agreed(given, speaker.tools)
        purse = Purse(lambda: self._session.turn.budget, speaker.tell, self._promised)
        if purse.remaining - 1 < LEAST:
            raise ToolError(SPENT.format(max(purse.remaining, 0), LEAST))
        reports = await Team(self._kin, terms, purse, tasks).work(
            speaker.stop, self._kin.equipment.settings.delegate_seconds
        )
        return Result(self._words(reports, speaker), ok=any(report.useful for report in reports))

    def _agreed(self, given: Any, tools: Tools) -> tuple[tuple[Task, ...], Terms]:
        """Everything that can be refused is refused before anything is lent.

        Raises:
            ToolError: says what is wrong.
        """
        terms = Terms(self._session.turn.session_id, tools, self._below())
        try:
            return checked(given, terms), terms
        except (BadTasks, NoTool) as error:
            raise ToolError(f"Nothing was delegated. {error}") from None

    def _below(self) -> Callable[[Session], Tool] | None:
        """The tool of a subagent that may delegate further."""
        levels = self._levels() - 1
        return (lambda session: Delegation(self._kin, session, lambda: levels).tool()) if levels > 0 else None

    def _words(self, reports: Sequence[Report], speaker: Speaker) -> str:
        def kept(report: Report, limit: int) -> Report:
            bounded = speaker.tools.kept(report.text, limit, f"{speaker.call_id} {report.session_id[:8]}")
            return replace(report, text=bounded.text, kept_at=bounded.at)

        return words(reports, kept, int(speaker.tools.settings.tool_result_chars * ROOM))

    async def between_turns(  # noqa: PLR0913 - what a person may want to say, each by its name
        self, player: Player, tasks: Tasks, *, budget: int | None = None, tools: Sequence[str] | None = None,
        namespace: bool = False, timeout: float | None = None, watch: Callable[[Event], object] | None = None,
    ) -> tuple[Report, ...]:  # fmt: skip
        """Have subagents do `tasks` side by side; their reports, in that order.

        Args:
            player: whose turns these stand between.
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
        equipment = self._kin.equipment
        calls = equipment.settings.max_iterations if budget is None else budget
        if calls < LEAST:
            raise HermesError(f"A budget of {calls} is too small: a subagent needs {LEAST} model calls.")
        equipment.model()
        lane = asyncio.Lock() if namespace else None
        terms = Terms(self._session.turn.session_id, equipment.tools, self._below(), lane)
        with player.working("delegate") as stop, readable():
            ledger = Ledger(calls, watch)
            async with aclosing(equipment.servers.ready(stop)) as told:
                async for noticed in told:
                    await ledger.tell(noticed)
            equipment.offered(tools)
            team = Team(self._kin, terms, ledger.purse(), checked(tasks, terms, tools))
            with self._paid(ledger, stop):
                return await team.work(stop, equipment.settings.delegate_seconds if timeout is None else timeout)

    @contextmanager
    def _paid(self, ledger: Ledger, stop: Stop) -> Iterator[None]:
        """However a person's subagents end, what they cost is in the usage of the conversation. A store that cannot be
        written now is told of it later; the reports are not lost for that."""
        try:
            yield
        except asyncio.CancelledError:
            if not stop.by:
                raise
            # A notebook's Interrupt does both, and a traceback out of the event loop tells nobody anything.
            raise HermesError(STOPPED) from None
        finally:
            with suppress(StoreError):
                self._session.keep(Spent(ledger.usage, "subagents"))


def checked(given: Tasks, terms: Terms, tools: Sequence[str] | None = None) -> tuple[Task, ...]:
    """The tasks, each with tools that there are; those that name none have `tools`.

    Raises:
        BadTasks, NoTool: say which and why.
    """
    tasks = tuple(
        replace(task, tools=None if tools is None else tuple(tools)) if task.tools is None else task
        for task in tasks_of(given)
    )
    offered = terms.heir()
    for task in tasks:
        if task.tools is not None:
            offered.only(task.tools)
    return tasks
