"""The tool `delegate`: within a turn, a model hands work to subagents, on leases of that turn's own budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from hermes_kernel.core.budget import LEAST
from hermes_kernel.delegating.child import Terms
from hermes_kernel.delegating.purse import Purse
from hermes_kernel.delegating.report import Report, words
from hermes_kernel.delegating.tasks import BadTasks, Task, Tasks, tasks_of
from hermes_kernel.delegating.team import Team
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.tools import NoTool, Result, Tool, ToolError, Tools
from hermes_kernel.world.tools.speaking import SPEAKER, Speaker
from hermes_kernel.world.tools.tool import built_in

DEADLINE = 8 * 86_400.0  # seconds; longer than any group may take, which ends itself in time
ROOM = 0.9  # of a result's characters
SPENT = (
    "Nothing was delegated: {} of your model calls remain, and a subagent needs {} besides your last one. "
    "Go on by yourself and come to an end."
)


class Delegation:
    """What the agent of ``session`` hands over. ``levels`` of subagents may stand below it."""

    def __init__(self, resources: Resources, session: Session, levels: Callable[[], int]) -> None:
        self._resources = resources
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
        await speaker.floor()  # how much is left is known when those before it have theirs back
        purse = Purse(lambda: self._session.turn.budget, speaker.tell, self._promised, call_id=speaker.call_id)
        if purse.remaining - 1 < LEAST:
            raise ToolError(SPENT.format(max(purse.remaining, 0), LEAST))
        reports = await Team(self._resources, terms, purse, tasks).work(
            speaker.stop, self._resources.equipment.settings.delegate_seconds
        )
        return Result(self._words(reports, speaker), ok=any(report.useful for report in reports))

    def _agreed(self, given: Any, tools: Tools) -> tuple[tuple[Task, ...], Terms]:
        """Everything that can be refused is refused before anything is lent.

        Raises:
            ToolError: says what is wrong.
        """
        terms = Terms(self._session.turn.session_id, tools, self.below())
        try:
            return checked(given, terms), terms
        except (BadTasks, NoTool) as error:
            raise ToolError(f"Nothing was delegated. {error}") from None

    def below(self) -> Callable[[Session], Tool] | None:
        """The tool of a subagent that may delegate further."""
        levels = self._levels() - 1
        return (lambda session: Delegation(self._resources, session, lambda: levels).tool()) if levels > 0 else None

    def _words(self, reports: Sequence[Report], speaker: Speaker) -> str:
        def kept(number: int, report: Report, limit: int) -> Report:
            bounded = speaker.tools.kept(report.text, limit, f"{speaker.call_id}-{number}")
            return replace(report, text=bounded.text, kept_at=bounded.at)

        return words(reports, kept, int(speaker.tools.settings.tool_result_chars * ROOM))


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
