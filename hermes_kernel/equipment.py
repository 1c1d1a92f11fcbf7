"""What an agent works with, made from its settings and made anew when they change: models, tools, a system prompt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.events import Asked
from hermes_kernel.core.messages import Image, ToolSpec
from hermes_kernel.core.redact import redact
from hermes_kernel.models import Models
from hermes_kernel.prompt import small_tools, system_prompt
from hermes_kernel.settings import FIXED, Settings, SettingsError
from hermes_kernel.world.compressing import Summariser
from hermes_kernel.world.folder import home_folder
from hermes_kernel.world.mcp import Servers
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.ports import Clock, Compressor, Finder, Knowledge, Model, Person, Toolbox
from hermes_kernel.world.recording.form import Surroundings
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tools
from hermes_kernel.world.tools.terminal import run_secrets

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Equipment:
    """The settings in force and what follows from them. ``given`` is a model that was handed over.

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
        self.tools = Tools(
            settings,
            person=person,
            shell=shell,
            home=settings.home,
            cwd=_folder(home_folder() or settings.home),
            clock=clock,
            finder=finder,
        ).builtins()
        self.servers = Servers(settings.home, settings.mcp_servers, lambda: self.tools.cwd, clock)
        self.tools.sources = (self.servers,)
        self.models = Models(
            settings, Surroundings(settings.home, lambda: self.tools.cwd, lambda: self._secrets, clock), given
        )
        self.knowledge: Knowledge | None = None
        self._clock = clock
        self.compressor = self.summariser()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.models.settings

    def asked(self, prompt: str, budget: int, images: Iterable[Image] = ()) -> Asked:
        """A prompt of `budget` model calls as it is recorded: without secrets, and with the model that is asked first.

        Raises:
            NoEndpoint: as `Models.main`.
        """
        self.models.main()
        route = self.models.first_route()
        reads, whom = self.models.window(route), self.models.whom(route)
        return Asked(self.redact(prompt), tuple(images), route, budget, reads, whom=whom)

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
            NoTool, NoEndpoint: as `offered` and `Models.main`.
        """
        return self._performer(self.offered(names), self.compressor, stop)

    def summariser(self) -> Summariser:
        """A compressor for one session, which it has to be closed with."""
        return Summariser(lambda: self.settings, self.models.aside, self._clock)

    def beside(self, stop: Stop, tools: Tools, compressor: Compressor) -> Performer:
        """What a subagent's turn with these tools happens in: the same model, and a compressor of its own.

        Raises:
            NoEndpoint: as `Models.main`.
        """
        return self._performer(self._shown(tools), compressor, stop)

    def _performer(self, tools: Toolbox, compressor: Compressor, stop: Stop) -> Performer:
        model = self.models.main()
        settles = bool(self.settings.record)
        return Performer(model, self.models.recorded(tools), compressor, self.models.waits, stop, settles)

    def system(self, notebook: str) -> str:
        """The system prompt of a session that begins now."""
        return system_prompt(
            self.settings,
            self.offered(None).specs(),
            small=self.models.small,
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
        return self.models.secrets | self.servers.secrets | run_secrets()

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
        self.models.configure(changes)
        self.tools.configure(self.settings)
        self.servers.configure(self.settings.mcp_servers)
        self.compressor.give_up("the settings were changed")
        self.compressor.close()
        self.models.release()

    async def aclose(self) -> None:
        """Let go of connections, and wait for the connections of this loop."""
        await self.compressor.aclose()
        await self.models.aclose()

    def close(self) -> None:
        """Let go of connections and of the local model, and end the servers of tools. Can be called again."""
        self.compressor.close()
        self.models.close()
        self.servers.close()

    def _shown(self, tools: Tools) -> Toolbox:
        return _FewTools(tools) if self.models.small else tools


def _folder(before: Path) -> Path:
    """The working folder of this moment, for a person may have moved; one that was deleted is no place to work in."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return before


class _FewTools:
    """The same tools, of which a small model is shown a few, briefly described."""

    def __init__(self, tools: Toolbox) -> None:
        self.run, self.lends = tools.run, tools.lends
        self._specs = tools.specs

    def specs(self) -> tuple[ToolSpec, ...]:
        return small_tools(self._specs())
