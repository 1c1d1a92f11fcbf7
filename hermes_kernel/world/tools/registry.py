"""The tools of one session: what is offered, what is run, and how every answer is bounded."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

from hermes_kernel.core.events import Event, Interrupted, Observed
from hermes_kernel.core.messages import Image, ToolCall, ToolSpec
from hermes_kernel.core.redact import redact
from hermes_kernel.settings import Settings
from hermes_kernel.world.ports import Clock, Finder, Person
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools.alias import Alias
from hermes_kernel.world.tools.approvals import Approvals, refusal
from hermes_kernel.world.tools.calls import Answered, Ready, prepare, resolve
from hermes_kernel.world.tools.clarify import make_clarify
from hermes_kernel.world.tools.edit_file import make_edit_file
from hermes_kernel.world.tools.guard import Guard
from hermes_kernel.world.tools.keeping import Bounded, keep, safe
from hermes_kernel.world.tools.python import make_python
from hermes_kernel.world.tools.read_file import make_read_file
from hermes_kernel.world.tools.results import Result, is_small
from hermes_kernel.world.tools.runner import Batch, Rules
from hermes_kernel.world.tools.search_files import make_search_files
from hermes_kernel.world.tools.session_search import make_session_search
from hermes_kernel.world.tools.speaking import SPEAKER
from hermes_kernel.world.tools.terminal import make_terminal, run_secrets
from hermes_kernel.world.tools.todo import Todos, make_todo
from hermes_kernel.world.tools.tool import Tool, tool_of
from hermes_kernel.world.tools.write_file import make_write_file

WORKERS = 8  # at least, so that a batch of eight takes as long as one; the default pool of two cores has six


class NoTool(ValueError):
    """There is no tool of that name. One readable line with the names there are."""


class Source(Protocol):
    """Tools that come and go by themselves, such as those of servers."""

    def offered(self) -> Iterable[Tool]:
        """Those that a model is shown at this moment."""
        ...

    def known(self) -> Iterable[Tool]:
        """These and any that would still answer a call."""
        ...

    @property
    def secrets(self) -> frozenset[str]:
        """Values that no result may show."""
        ...


@dataclass(slots=True)
class _Session:
    """What all views of one session's tools share."""

    approvals: Approvals
    guard: Guard = field(default_factory=Guard)
    todos: Todos = field(default_factory=Todos)
    id: str = ""


class Tools:
    """Keeps `ports.Toolbox`. ``home`` holds results and approvals, ``cwd`` is the working folder, ``shell`` IPython's;
    ``finder`` finds what was said in earlier sessions.

    Names keep the place they were first given, so that the tools a provider has cached stay where they were."""

    def __init__(  # noqa: PLR0913 - what a session is made of, each by its name
        self, settings: Settings, *, person: Person | None, shell: Any = None, home: Path, cwd: Path, clock: Clock,
        namespace: dict[str, Any] | None = None, finder: Finder | None = None,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.person = person
        self.shell = shell
        self.home = home
        self.cwd = cwd
        self.clock = clock
        self.finder = finder
        self.namespace: dict[str, Any] = {} if namespace is None else namespace
        self.sources: tuple[Source, ...] = ()
        self._chosen: frozenset[str] | None = None  # of what the sources have; None: all
        self._tools: dict[str, Tool] = {}
        self._built: dict[str, Tool] = {}
        self._session = _Session(Approvals(settings.approvals, home, person))

    @property
    def todos(self) -> Todos:
        """The session's list of things to do."""
        return self._session.todos

    def begin_turn(self) -> None:
        """Forget what the last turn tried."""
        self._session.guard = Guard()

    def begin_session(self, session_id: str) -> None:
        """From here on results are kept under this id; answers for "this session" and the things to do are gone."""
        self._session.id = session_id
        self._session.todos.items = ()
        self._session.approvals.session.clear()
        self.begin_turn()

    def go_on_in(self, session_id: str) -> None:
        """The conversation goes on under this id, with all that was answered and is still to be done."""
        self._session.id = session_id

    def builtins(self) -> Self:
        """Add the built-in tools."""
        settings, here = self.settings, lambda: self.cwd
        for made in (
            make_python(self.namespace, self.shell, settings.tool_seconds, settings.vision),
            make_read_file(here, settings.tool_result_chars),
            make_write_file(here, self.home),
            make_edit_file(here, self.home),
            make_terminal(here, self.home, settings.tool_seconds, lambda: self.secrets),
            make_search_files(here),
            *self._of_session(),
            make_clarify(lambda: self.person),
        ):
            self._built[made.name] = self.add(made)
        return self

    def configure(self, settings: Settings) -> None:
        """Other settings from here on. What was added or answered in this session stays."""
        own = {name: tool for name, tool in self._tools.items() if self._built.get(name) is not tool}
        self.settings = settings
        self._session.approvals = replace(self._session.approvals, policy=settings.approvals)
        self.builtins()
        self._tools |= own

    def add(self, tool: Callable[..., Any] | Tool) -> Tool:
        """Offer a tool; the latest of a name wins.

        Raises:
            TypeError: it cannot be one (see `tool`).
        """
        made = tool_of(tool)
        self._tools[made.name] = made
        return made

    def get(self, name: str) -> Tool | None:
        """The tool that was added under this very name."""
        return self._tools.get(name)

    def only(self, names: Iterable[str]) -> Tools:
        """The same session's tools, but only these.

        Raises:
            NoTool: there is no such tool.
        """
        known = self._with(source.known() for source in self.sources)
        wanted = {name: resolve(name, known) for name in names}
        unknown = [name for name, found in wanted.items() if not found]
        if unknown:
            raise NoTool(f"There is no tool named {', '.join(unknown)}. The tools are: {', '.join(self.names())}.")
        fewer = copy.copy(self)
        fewer._tools = {  # noqa: SLF001 - a copy of this very object
            name: tool for name, tool in self._tools.items() if name in wanted.values()
        }
        fewer._chosen = frozenset(wanted.values())  # noqa: SLF001
        return fewer

    def heir(self, session_id: str, who: str, without: Collection[str]) -> Self:
        """What a subagent called `who` works with in its own session: the same tools but for those named in `without`,
        its own list of things to do, its own guard. The person is asked in its name, and an answer for "this session"
        holds for both."""
        heir = copy.copy(self)
        heir._begin_anew(session_id, who, without)  # noqa: SLF001 - a copy of this very object
        return heir

    def _begin_anew(self, session_id: str, who: str, without: Collection[str]) -> None:
        self._session = _Session(replace(self._session.approvals, who=who), id=session_id)
        self._tools = {name: tool for name, tool in self._tools.items() if name not in without}
        self._built = dict(self._built)
        for made in self._of_session():
            if made.name in self._tools and self._tools[made.name] is self._built[made.name]:
                self._tools[made.name] = self._built[made.name] = made

    def _of_session(self) -> Iterator[Tool]:
        yield make_todo(self.todos)
        if self.finder is not None:
            yield make_session_search(self.finder, lambda: self._session.id, self.settings.tool_result_chars)

    def kept(self, text: str, limit: int, name: str) -> Bounded:
        """`text` without secrets in at most `limit` characters; all of a longer one is in a file named after `name`."""
        kept = keep(redact(text, self.secrets | run_secrets()), limit, self._folder(), name)
        return replace(kept, text=self._alias.told(kept.text))

    def names(self) -> tuple[str, ...]:
        """The names, in the order they are offered."""
        return tuple(self._with(source.offered() for source in self.sources))

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._with(source.offered() for source in self.sources).values())

    def lends(self, call: ToolCall) -> bool:
        tool = self._tools.get(resolve(call.name, self._tools))
        return tool is not None and tool.closes

    async def run(self, calls: Sequence[ToolCall], stop: Stop) -> AsyncGenerator[Event, None]:
        if stop.by:
            yield Interrupted(by=stop.by)
            return
        tools = self._with(source.known() for source in self.sources)
        rules = Rules(
            prepare=lambda call: prepare(self._alias.meant(call), tools, self._session.guard),
            admit=self._admit,
            finish=self._finish,
            workers=max(WORKERS, self.settings.tool_workers),
            seconds=self.settings.tool_seconds,
            tools=self,
            ordered=self.settings.spec,
            told=self._alias.told,
        )
        batch = Batch(rules, self.clock).run(calls, stop)
        try:
            async for event in batch:
                yield event
        finally:
            await batch.aclose()

    def _with(self, others: Iterable[Iterable[Tool]]) -> dict[str, Tool]:
        """What was added, and then of `others` what is chosen: none of them takes the place of one that was added."""
        chosen = (tool for tools in others for tool in tools if self._chosen is None or tool.name in self._chosen)
        found = dict(self._tools)
        for tool in chosen:
            found.setdefault(tool.name, tool)
        return found

    @property
    def secrets(self) -> frozenset[str]:
        """Values that no result may show and no command is given: the settings' and those of the sources."""
        return self.settings.secrets.union(*(source.secrets for source in self.sources))

    async def _admit(self, ready: Ready) -> Ready | Answered:
        approved = await self._session.approvals.decide(ready)
        await SPEAKER.get().tell(approved)
        if approved.allowed:
            return ready
        text = refusal(approved, ready)
        self._session.guard.refused(ready.signature, text)
        return Answered(ready.call, text)

    def _finish(self, made: Ready | Answered, result: Result, seconds: float) -> Observed:
        text = redact(result.text, self.secrets | run_secrets())
        text = self._alias.told(text)
        if isinstance(made, Ready):
            text += self._session.guard.record(made.signature, text, ok=result.ok, harmless=made.tool.repeatable)
        kept = keep(text, self.settings.tool_result_chars, self._folder(), made.call.id)
        return Observed(
            made.call.id, self._alias.told(kept.text), result.ok, seconds, kept.at, self._seen(result.images)
        )

    @property
    def _alias(self) -> Alias:
        return Alias(self.home if self.settings.spec else None)

    def _folder(self) -> Path:
        day = time.strftime("%Y-%m-%d", time.gmtime(self.clock.now()))
        return self.home / "results" / (safe(self._session.id) if self._session.id else day)

    def _seen(self, images: tuple[Image, ...]) -> tuple[Image, ...]:
        return tuple(image for image in images if is_small(image.data, self.settings.vision))
