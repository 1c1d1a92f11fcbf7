"""What an agent works with, made from its settings and made anew when they change: a model, tools, a system prompt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.events import Asked
from hermes_kernel.core.messages import Image, ToolSpec
from hermes_kernel.core.redact import redact
from hermes_kernel.limits import side_limits
from hermes_kernel.prompt import small_tools, system_prompt
from hermes_kernel.settings import FIXED, LOCAL, Settings, SettingsError
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.compressing import Summariser
from hermes_kernel.world.local import available
from hermes_kernel.world.mcp import Servers
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.model.pool import Pool
from hermes_kernel.world.model.routes import Route, routes_of
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.ports import Clock, Compressor, Finder, Knowledge, Model, Person, Toolbox
from hermes_kernel.world.recording.settled import counted_ids, head
from hermes_kernel.world.recording.tape import Recorded, Recordings, Standing
from hermes_kernel.world.spec import Hurried
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tools
from hermes_kernel.world.tools.terminal import run_secrets

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Equipment:
    """The settings in force and what follows from them. ``given`` is a model that was handed over: it stays, whatever
    the settings say. In a replay the recording says who is asked, whoever a person would ask.

    Raises:
        SettingsError: a model that was handed over is to be recorded or replayed.
    """

    def __init__(  # noqa: PLR0913 - what an agent works with, each by its name
        self,
        settings: Settings,
        clock: Clock,
        *,
        person: Person | None = None,
        shell: InteractiveShell | None = None,
        given: Model | None = None,
        finder: Finder | None = None,
    ) -> None:
        self.settings = self._wished = settings
        self.tools = Tools(
            settings,
            person=person,
            shell=shell,
            home=settings.home,
            cwd=_folder(Path.home()),
            clock=clock,
            finder=finder,
        ).builtins()
        self.servers = Servers(settings.home, settings.mcp_servers, lambda: self.tools.cwd, clock)
        self.tools.sources = (self.servers,)
        self.knowledge: Knowledge | None = None
        self._clock = clock
        self._hurried, self._counted = Hurried(clock), counted_ids()
        self._recordings = Recordings(Standing(settings.home, lambda: self.tools.cwd, lambda: self._secrets, clock))
        self.compressor = self.summariser()
        self._given = given
        self._made: OpenAIModel | None = None
        self._aux: OpenAIModel | None = None
        with suppress(SettingsError):  # said again when there is something to ask
            self.settings = self._recordings.use(settings)
        self._refuse_given(settings)

    def model(self) -> Model:
        """The model to ask, made when it is first needed.

        Raises:
            NoEndpoint: none is configured and there is no local one.
            SettingsError: it is to be replayed, and there is no such recording.
        """
        if self._given is not None:
            return self._given
        if self._made is None:
            self.settings = self._recordings.use(self._wished)
            if not self._recordings.alone:
                self.settings = self.settings.settled(available)
            if not self.settings.replay:
                self._wished = self.settings
            self._recordings.begin(lambda: head(self.settings))
            self._made = self.another(self.settings)
        return self._made

    def another(self, settings: Settings, routes: Sequence[Route] | None = None) -> OpenAIModel:
        """A model with connections of its own, for another loop or other routes. It is recorded or replayed with the
        others."""
        wire = self._recordings.wire(lambda: Pool(settings.connect_seconds))
        new_id = self._counted if settings.spec else None
        return OpenAIModel(settings, self.waits, routes=routes, wire=wire, new_id=new_id)

    @property
    def waits(self) -> Clock:
        """What is waited on before somebody is asked again. In a replay without pauses nobody has to be spared."""
        return self._hurried if self._recordings.alone and not self.settings.replay_gaps else self._clock

    @property
    def recording(self) -> Recorded | None:
        """What is recorded or replayed, and how much of it there is."""
        return self._recordings.now

    def on_tape(self, tools: Toolbox) -> Toolbox:
        """`tools`, whose calls are recorded, or answered from a recording, where that is wished."""
        return self._recordings.tools(tools)

    def aside(self) -> Aside:
        """The model for side work, with its limits: `aux_model` and behind it the main ones; only those where none is
        set, or where it can be had nowhere.

        Raises:
            NoEndpoint: as `model`.
        """
        if self._aux is None:
            self._aux = self._side_model()
        model = self._aux or self.model()
        routes = len(self._aux.routes) if self._aux else 1 + len(self.settings.fallback_models)
        first = self._aux.first_route() if self._aux else self.first_route()
        solitary = self.small and (self._aux is None or self._aux.routes[first].is_local)
        return Aside(model, self.waits, side_limits(self.settings, routes), first, solitary)

    def _side_model(self) -> OpenAIModel | None:
        name = self.settings.aux_model
        if not name or (self._given is not None and "@" not in name and not self.settings.base_url):
            return None
        if self._given is None:
            self.model()
        _, aux = routes_of(self.settings.with_(fallback_models=(name,)), os.environ)
        others = routes_of(self.settings, os.environ) if self._given is None else ()
        return self.another(self.settings.with_(context_window=0), (aux, *others))

    def asked(self, prompt: str, budget: int, images: Iterable[Image] = ()) -> Asked:
        """A prompt of `budget` model calls as it is recorded: without secrets, and with the model that is asked first.

        Raises:
            NoEndpoint: as `model`.
        """
        self.model()
        route = self.first_route()
        return Asked(self.redact(prompt), tuple(images), route, budget, self.window(route))

    def first_route(self) -> int:
        """The number of the model to ask first: one that failed lately for reasons of its account is passed over."""
        return self._made.first_route() if self._made else 0

    def window(self, route: int) -> int:
        """Tokens that model number `route` reads at most, as far as is known; 0: not known."""
        return self._made.window(route) if self._made else self.settings.context_window

    def offered(self, names: Iterable[str] | None) -> Toolbox:
        """The tools a turn may use: all, or only these; a small model is shown a few of them, briefly.

        Raises:
            NoTool: there is no tool of such a name.
        """
        self.tools.cwd = _folder(self.tools.cwd)
        return self._shown(self.tools if names is None else self.tools.only(names))

    def world(self, stop: Stop, names: Iterable[str] | None) -> Performer:
        """What a turn with these tools happens in, until `stop` is pressed.

        Raises:
            NoTool, NoEndpoint: as `offered` and `model`.
        """
        return self._performer(self.offered(names), self.compressor, stop)

    def summariser(self) -> Summariser:
        """A compressor for one session, which it has to be closed with."""
        return Summariser(lambda: self.settings, self.aside, self._clock)

    def beside(self, stop: Stop, tools: Tools, compressor: Compressor) -> Performer:
        """What a subagent's turn with these tools happens in: the same model, and a compressor of its own.

        Raises:
            NoEndpoint: as `model`.
        """
        return self._performer(self._shown(tools), compressor, stop)

    def _performer(self, tools: Toolbox, compressor: Compressor, stop: Stop) -> Performer:
        model = self.model()
        return Performer(model, self.on_tape(tools), compressor, self.waits, stop)

    def system(self, notebook: str) -> str:
        """The system prompt of a session that begins now."""
        return system_prompt(
            self.settings,
            self.offered(None).specs(),
            small=self.small,
            cwd=str(self.tools.cwd),
            notebook=notebook,
            now=self._clock.now(),
            learnt=self.knowledge.block() if self.knowledge else "",
        )

    def redact(self, text: str) -> str:
        """`text` without secrets, the endpoint's key among them."""
        return redact(text, self._secrets)

    @property
    def _secrets(self) -> frozenset[str]:
        return self.settings.secrets | self._wished.secrets | self.servers.secrets | run_secrets()

    def configure(self, changes: dict[str, Any]) -> None:
        """Other settings from here on.

        Raises:
            SettingsError: a setting is unknown or out of range; nothing is changed.
        """
        fixed = sorted(FIXED & changes.keys())
        if fixed:
            name = fixed[0]
            raise SettingsError(
                f"{name} cannot change under a running agent. Set HERMES_{name.upper()} and begin anew."
            )
        wished = self._wished.with_(**changes)
        self._refuse_given(wished)
        self.settings, self._wished = self._recordings.use(wished), wished
        self.tools.configure(self.settings)
        self.servers.configure(self.settings.mcp_servers)
        self.compressor.give_up("the settings were changed")
        self._release()

    def warm(self) -> None:
        """Import what the first call needs, if there is anything to call. For a thread."""
        if self._given is None and (self.settings.base_url or self.settings.api_key or available()):
            self.model()
            if self._made is not None:
                self._made.warm()

    async def aclose(self) -> None:
        """Let go of connections, and wait for the connections of this loop."""
        await self.compressor.aclose()
        for made in self._let_go():
            await made.aclose()

    def close(self) -> None:
        """Let go of connections and of the local model, and end the servers of tools. Can be called again."""
        self._release()
        self._recordings.close()
        self.servers.close()

    def _release(self) -> None:
        self.compressor.close()
        for made in self._let_go():
            made.close()

    def _let_go(self) -> list[OpenAIModel]:
        made = [each for each in (self._made, self._aux) if each is not None]
        self._made = self._aux = None
        return made

    def _refuse_given(self, settings: Settings) -> None:
        if self._given is not None and (settings.record or settings.replay):
            how = "record" if settings.record else "replay"
            raise SettingsError(f"A model of your own cannot be recorded or replayed: leave out {how}, or the model.")

    def _shown(self, tools: Tools) -> Toolbox:
        return _FewTools(tools) if self.small else tools

    @property
    def small(self) -> bool:
        """The model is the local one: short prompts, few tools."""
        return self._given is None and (self.settings.base_url or ("" if self.settings.api_key else LOCAL)).startswith(
            LOCAL
        )


def _folder(before: Path) -> Path:
    """The working folder of this moment, for a person may have moved; one that was deleted is no place to work in."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return before


class _FewTools:
    """The same tools, of which a small model is shown a few, briefly described."""

    def __init__(self, tools: Toolbox) -> None:
        self.run = tools.run
        self._specs = tools.specs

    def specs(self) -> tuple[ToolSpec, ...]:
        return small_tools(self._specs())
