"""One subagent: a session of its own in the store, tools of its own, and one turn that is played to its end.

However the turn is left, its session is closed and its Python is ended beside whoever goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from hermes_kernel.core.events import Event, Opened
from hermes_kernel.core.messages import Usage
from hermes_kernel.delegating.briefing import system_prompt
from hermes_kernel.delegating.report import Report, reported
from hermes_kernel.delegating.tasks import Task
from hermes_kernel.errors import HermesError
from hermes_kernel.limits import lease_limits
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.kernels.own import OwnKernel
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.tools import Tool, Tools
from hermes_kernel.world.tools.threads import in_thread

WITHHELD = frozenset({"delegate", "clarify", "memory", "skill_manage", "schedule"})
"""What only the agent that a person speaks with may do."""

DELEGATE, PYTHON = "delegate", "python"


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all subagents of one call: their ``parent``'s session and the ``tools`` that one has; what makes
    the tool with which they delegate further (None: they cannot); the lock under which they take turns in its namespace
    (None: each has a Python of its own)."""

    parent: str
    tools: Tools
    below: Callable[[Session], Tool] | None = None
    namespace: asyncio.Lock | None = None

    def heir(self, title: str = "", lease: str = "") -> Tools:
        """The tools of a subagent, before it is given its own."""
        return self.tools.heir(lease, title, WITHHELD if self.below is None else WITHHELD - {DELEGATE})


class Child:
    """The subagent that works on `task` with `calls` model calls, leased under ``lease``."""

    def __init__(self, resources: Resources, terms: Terms, task: Task, lease: str, calls: int) -> None:
        settings = resources.equipment.settings
        self.session = Session(resources.store, lease_limits(settings))
        self._resources = resources
        self._terms = terms
        self._task = task
        self.lease = lease
        self._calls = calls
        self._trouble = ""
        self._owed = Usage()
        self._compressor = resources.equipment.summariser()
        self._python: OwnKernel | None = None

    def report(self, reason: str = "") -> Report:
        """What it brought back, at any time; `reason` is said where it ended for one that it does not know."""
        made = reported(self._task, self.session.turn, self._calls, self._trouble or reason)
        return replace(made, usage=made.usage + self._owed)

    async def play(self, stop: Stop) -> AsyncGenerator[Event, None]:
        """The events of its turn. What the store or the settings refuse is in the report."""
        try:
            tools = self._tools()
            world = self._resources.equipment.beside(stop, tools, self._compressor)
            self._open(tools)
            # The closing words are within the lease.
            asked = self._resources.equipment.asked(self._task.prompt, self._calls - 1)
            async with aclosing(self.session.play(world, asked)) as events:
                async for event in events:
                    yield event
        except (StoreError, HermesError, SettingsError) as error:
            self._trouble = str(error)
        finally:
            if spent := self._compressor.leave():
                self._owed = spent.usage
            self.session.close()
            self._end_python(at_once=bool(stop.by))

    def _tools(self) -> Tools:
        """Those of the agent that asked, but for what has to be its own."""
        terms, task = self._terms, self._task
        tools = terms.heir(task.title, self.lease)
        if terms.below is not None and tools.get(DELEGATE) is not None:
            tools.add(terms.below(self.session))
        if (python := tools.get(PYTHON)) is not None:
            tools.add(self._own_python() if terms.namespace is None else _in_turn(python, terms.namespace))
        return tools if task.tools is None else tools.only(task.tools)

    def _own_python(self) -> Tool:
        settings = self._resources.equipment.settings
        self._python = OwnKernel(
            settings.delegate_kernel,
            cwd=self._terms.tools.cwd,
            clock=self._resources.clock,
            seconds=settings.tool_seconds,
            vision=settings.vision,
            secrets=lambda: self._terms.tools.secrets,
        )
        return self._python.tool()

    def _open(self, tools: Tools) -> None:
        equipment = self._resources.equipment
        system = system_prompt(
            equipment.settings,
            tools.names(),
            small=equipment.models.small,
            cwd=str(tools.cwd),
            now=self._resources.clock.now(),
        )
        model, parent = equipment.settings.model, self._terms.parent
        self.session.open(Opened(self.lease, system, model, kind="subagent", parent=parent))
        self.session.title(equipment.redact(self._task.title))

    def _end_python(self, *, at_once: bool) -> None:
        """Aside: a kernel may take a second to go."""
        if (python := self._python) is not None:
            in_thread(python.kill if at_once else lambda: asyncio.run(python.close()), "hermes-subagent-python")


def _in_turn(tool: Tool, lane: asyncio.Lock) -> Tool:
    """`tool`, one call at a time over all who share `lane`."""

    async def run(**arguments: Any) -> Any:
        async with lane:
            return await tool.run(**arguments)

    return replace(tool, run=run)
