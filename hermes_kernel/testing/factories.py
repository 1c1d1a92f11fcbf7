"""What the fixtures `hermes_server` and `hermes_agent` give to a test: servers and agents, made from scripts and ended
with the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import pytest

from hermes_kernel.agent import Agent
from hermes_kernel.testing.clock import FastClock
from hermes_kernel.testing.model import ScriptedModel
from hermes_kernel.testing.script import NotFollowed
from hermes_kernel.testing.server import Request, Server
from hermes_kernel.testing.step import Step
from hermes_kernel.world.ports import Clock, Model
from hermes_kernel.world.recording.beside import CASSETTES
from hermes_kernel.world.tools import Tool

if TYPE_CHECKING:
    from hermes_kernel.core.commands import CallModel

NOBODY = (
    "hermes_agent has no model to ask: give it a script, such as hermes_agent([say('Hello.')]), or start one before, "
    "with hermes_server([say('Hello.')])."
)
UNHEARD = (
    "A script in this process has no connection that could be recorded or replayed. Start it with hermes_server(...), "
    "and make the agent without one."
)
TWICE = "hermes_agent has one model: what stands first, a script or a name, or what model= says."
CALLED = "{0} is a function: it wants a script first, as in {0}([say('Hello.')])."
STILL = frozenset({"spec", "replay"})
ELSEWHERE = frozenset({"base_url", "replay", "settings"})  # whoever says one of these says who is asked

Made = TypeVar("Made")


class Scripted(Protocol):
    """What can say whether its script was followed."""

    def check(self) -> None:
        """See `script.Script.check`."""
        ...


class Factory(Generic[Made]):
    """Makes things for a test, and ends them all with it, the latest first."""

    name = ""

    def __init__(self) -> None:
        self.made: list[Made] = []
        self._scripts: list[Scripted] = []

    def check(self) -> None:
        """See `script.Script.check`, for each script. Told without a traceback: it would show nothing of a person's."""
        __tracebackhide__ = True
        for each in self._scripts:
            try:
                each.check()
            except NotFollowed as error:
                raise pytest.fail.Exception(str(error), pytrace=False) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self.made:
            self._end(self.made.pop())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(CALLED.format(self.name))

    def _end(self, made: Made) -> None:
        raise NotImplementedError


class Servers(Factory[Server]):
    """``servers(script)`` starts a `Server`. The first is whom agents and notebooks ask, unless told otherwise."""

    name = "hermes_server"

    def __init__(self, environ: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._environ = environ

    def __call__(self, script: Step | Iterable[Step] | Callable[[Request], Step]) -> Server:
        """See `Server`."""
        server = Server(script).start()
        if not self.made:
            self._environ.setenv("HERMES_BASE_URL", server.url)
            self._environ.setenv("HERMES_MODEL", "scripted")
            self._environ.setenv("HERMES_API_KEY", "none")
        self.made.append(server)
        self._scripts.append(server)
        return server

    def _end(self, made: Server) -> None:
        made.stop()


class Agents(Factory[Agent]):
    """``agents(script, tools=[…], budget=…)`` makes an `Agent`."""

    name = "hermes_agent"

    def __call__(
        self,
        script: Step | Iterable[Step] | Callable[[CallModel], Step] | Model | str | None = None,
        tools: Sequence[Callable[..., Any] | Tool] = (),
        **wishes: Any,
    ) -> Agent:
        """An `Agent` that is answered by `script`; `wishes` are its other arguments and any setting.

        Raises:
            TypeError: there is nothing to ask, the script is none, or what it says cannot be recorded.
        """
        if script is None:
            script = wishes.pop("model", None)
        elif "model" in wishes:
            raise TypeError(TWICE)
        if not STILL & wishes.keys():  # those have a clock of their own
            wishes.setdefault("clock", FastClock())
        model = self._model(script, wishes.get("clock"))
        elsewhere = isinstance(model, str | None)
        if elsewhere and not ELSEWHERE & wishes.keys() and "HERMES_BASE_URL" not in os.environ:
            raise TypeError(NOBODY)
        if not elsewhere and wishes.keys() & CASSETTES:
            raise TypeError(UNHEARD)
        agent = Agent(model, tools, **wishes)
        self.made.append(agent)
        return agent

    def _model(self, script: Any, clock: Clock | None) -> Model | str | None:
        if script is None or isinstance(script, str):
            return script
        model: Model = script if hasattr(script, "reply") else ScriptedModel(script, clock=clock)
        if isinstance(model, ScriptedModel):
            self._scripts.append(model)
        return model

    def _end(self, made: Agent) -> None:
        made.close()
