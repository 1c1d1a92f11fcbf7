"""The public `Agent`: settings, a model, tools and a log put together; one conversation and one turn at a time.

Its `parts` are imported when the first one is made, so that importing it costs a notebook next to nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from hermes_kernel.checks import checked, limited
from hermes_kernel.errors import explained
from hermes_kernel.world.plain_code import from_plain_code

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.core.events import Compressed, Event
    from hermes_kernel.core.messages import Image, Usage
    from hermes_kernel.core.search.found import Found
    from hermes_kernel.core.turn import Turn
    from hermes_kernel.delegating import Report, Tasks
    from hermes_kernel.mapping import Mapper, MapResult
    from hermes_kernel.scheduling.jobs import Jobs
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.mcp import Servers
    from hermes_kernel.world.ports import Archive, Clock, Model, Person
    from hermes_kernel.world.recording.recordings import Recorded
    from hermes_kernel.world.tools import Tool, Tools


class Agent:
    """An agent with tools and a conversation. ``store`` holds what is said in it, ``learning`` what it remembers;
    ``now()`` is what it takes for the time, which stands still in a ``spec``.

    Args:
        model: the model to ask, by name or as a `Model` of your own; None takes the settings'.
        tools: functions marked with `tool` (or plain ones), beside the built-in tools.
        settings: where to start from; None reads the environment and ``kernel.toml``.
        session: None or ``"new"``, or the session to go on with, named as in `resume`.
        person: who is asked what only a person can say; None: nobody is there.
        shell: the notebook's IPython, in whose namespace `python` works; None: a namespace of the agent's own.
        clock, log: time and chance, and where facts are kept; None: the machine's, and the store under the home.
        notebook: the name of the document this happens in.
        changes: any setting by name, such as ``max_iterations=20``.

    Raises:
        SettingsError: a setting is unknown or out of range.
        HermesError: there is no such session, another process is in it, or the shared store cannot be used.
    """

    def __init__(  # noqa: PLR0913 - the front door: each argument is one thing a person may want to say
        self,
        model: str | Model | None = None,
        tools: Sequence[Callable[..., Any] | Tool] = (),
        *,
        settings: Settings | None = None,
        session: str | None = None,
        person: Person | None = None,
        shell: InteractiveShell | None = None,
        clock: Clock | None = None,
        log: Archive | None = None,
        notebook: str = "",
        **changes: Any,
    ) -> None:
        from hermes_kernel import parts

        name = model if isinstance(model, str) else None
        settings = settings.with_(model=name, **changes) if settings else parts.Settings.load(model=name, **changes)
        given = model if model is not None and not isinstance(model, str) else None
        with explained():
            self._ground = ground = parts.Ground(settings, clock, log)
        settings, clock, self.store = ground.settings, ground.clock, ground.store
        self.spec, self.now = ground.still, clock.now
        self._equipment = parts.Equipment(settings, clock, person=person, shell=shell, given=given, finder=self.store)
        self._session = parts.Session(self.store, parts.turn_limits(self.settings))
        self._resources = resources = parts.Resources(self._equipment, self.store, clock, ground.new_id)
        self.learning = learning = parts.Learning(resources, self._session)
        self._player = parts.Player(resources, self._session, learning)
        self.blocking = parts.Blocking(self.stop)
        self._conversation = parts.Conversation(resources, self._session, self._player, notebook)
        self._delegator = parts.Delegator(resources, self._session, self._player)
        schedule = parts.make_schedule(lambda: self.jobs, lambda: self.settings.schedule_writes)
        for each in (self._delegator.tool(), *learning.tools(), schedule, *tools):
            self.add(each)
        self.new() if session in (None, "new") else self.resume(session)

    # --- what it knows

    @property
    def settings(self) -> Settings:
        """The settings in force; `configure` changes them."""
        return self._equipment.settings

    @property
    def tools(self) -> Tools:
        """The tools it has; `add` adds to them."""
        return self._equipment.tools

    @property
    def servers(self) -> Servers:
        """The MCP servers whose tools are offered beside them."""
        return self._equipment.servers

    @cached_property
    def jobs(self) -> Jobs:
        """What runs at set times: ``add``, ``list``, ``runs``, ``run``, ``stop`` and more of `scheduling.jobs.Jobs`."""
        from hermes_kernel.scheduling.scheduling import jobs_of

        return jobs_of(self._resources, lambda: self.session_id, self.learning.skills.names)

    @property
    def recording(self) -> Recorded | None:
        """What is recorded of its traffic, or replayed, and how much of it there is."""
        return self._equipment.models.recording

    @property
    def turn(self) -> Turn:
        """The latest turn, finished or not."""
        return self._session.turn

    def __repr__(self) -> str:
        return f"<Agent in session {self.session_id[:12]}>"

    @property
    def session_id(self) -> str:
        """The id of the conversation."""
        return self.turn.session_id

    @property
    def usage(self) -> Usage:
        """Tokens of the whole conversation, failed calls included."""
        return self.turn.earlier + self.turn.usage

    @property
    def busy(self) -> bool:
        """A turn is running."""
        return self._player.busy

    # --- asking

    async def ask(self, prompt: str, **options: Any) -> Turn:
        """Play a turn to its end; see `stream` for the options and what is raised."""
        return await self._player.to_the_end(self.stream(prompt, **options))

    async def stream(
        self,
        prompt: str,
        *,
        images: Sequence[Image] = (),
        budget: int | None = None,
        timeout: float | None = None,
        tools: Sequence[str] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """The events of one turn, as they happen.

        Args:
            prompt: what is asked.
            images: pictures that go with it.
            budget: model calls this turn may make; None: `settings.max_iterations`.
            timeout: seconds this turn may take; None: `settings.turn_seconds`, 0: no limit.
            tools: names of the only tools that are offered; None: all, empty: none.

        Raises:
            HermesError: the prompt is empty, a turn is running, a tool is unknown, or the store cannot be written.
            NoEndpoint: there is no model to ask; the text says how to configure one.
        """
        asked = self._equipment.asked(checked(prompt, budget), budget or self.settings.max_iterations, images)
        async with aclosing(self._player.play(asked, limited(timeout), tools)) as events:
            async for event in events:
                yield event

    async def finish(self) -> Turn:
        """Go on with a turn that a crash cut off; nothing happens when the last turn is over. `HermesError` when a turn
        is running, or the store cannot be written."""
        from hermes_kernel.core.turn import decide

        if decide(self.turn) is not None:
            await self._player.to_the_end(self._player.play(None, None, None))
        return self.turn

    async def compress(self, focus: str = "") -> Compressed:
        """Summarise the older part now, `focus` most fully, and go on in a session of its own. Where nothing can be
        gained, ``before`` equals ``after`` and nothing is changed. `HermesError` when a turn runs or it was stopped."""
        from hermes_kernel.core.events import Compressed

        async with aclosing(self.compressing(focus)) as events:
            return [event async for event in events if isinstance(event, Compressed)][-1]

    def compressing(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """The events of `compress`, as they happen: `Noticed` while it goes on, then `Compressed`."""
        return self._player.compress(focus)

    async def delegate(self, tasks: Tasks, **wishes: Any) -> tuple[Report, ...]:
        """Have subagents do `tasks` side by side, between turns; see `delegating.Delegator.delegate` for what may be
        wished (``budget``, ``tools``, ``namespace``, ``timeout``, ``watch``) and what is raised."""
        return await self._delegator.delegate(tasks, **wishes)

    @property
    def mapper(self) -> Mapper:
        """What asks once for each row of a table; the methods below are its own."""
        from hermes_kernel.mapping import Mapper

        return Mapper(self._resources, self._player)

    async def map(self, template: str, rows: Any, **wishes: Any) -> MapResult:
        """Ask `template` once for each row, ``$column`` being its cell; see `mapping.Mapper.stream` for what may be
        wished (such as ``workers``, ``budget``, ``timeout``, ``tools``, ``again``, ``executor``) and what is raised."""
        return await self.mapper.map(template, rows, **wishes)

    ask_sync = from_plain_code(ask)
    compress_sync = from_plain_code(compress)
    delegate_sync = from_plain_code(delegate)
    map_sync = from_plain_code(map)  # noqa: A003 - our own is meant

    def stop(self, by: str = "person") -> None:
        """Stop the running turn, from any thread. Without one, nothing happens."""
        self._player.stop(by)

    # --- tools and conversations

    def add(self, tool: Callable[..., Any] | Tool) -> None:
        """Offer a tool from the next model call on; the latest of a name wins."""
        self.tools.add(tool)

    def new(self) -> None:
        """Begin another conversation; this one stays in the store."""
        self._conversation.begin()

    def branch(self, at: int | None = None) -> None:
        """Go on with a copy of this conversation, up to and including its turn number `at` (from 1; None: all of it).
        The original stays as it is. `HermesError` when there is no such turn, or one is running."""
        self._conversation.branch(at)

    def resume(self, session: str) -> Turn:
        """Go on with an earlier conversation: its id, the beginning of it (4 characters or more), its title, or
        ``"last"``; one that was compressed, in the session it goes on in. The conversation is restored, not the
        notebook's variables; `finish` goes on with a turn that was cut off. `HermesError` when there is no such
        session, several are named so, or another process is in it."""
        self._conversation.resume(session)
        with explained():
            self._delegator.take_back()
        return self.turn

    def title(self, title: str) -> None:
        """Name this conversation, in one line of at most 100 characters; anything else is a `HermesError`."""
        self._conversation.title(title)

    def search(self, query: str, limit: int = 10) -> Found:
        """What was said, in this conversation and in all others: the `limit` conversations that fit best. `HermesError`
        when a filter has a value that it cannot have, or the store cannot be read."""
        with explained():
            return self.store.search(query, limit)

    def undo(self, turns: int = 1) -> int:
        """Take the last turns out of the conversation; how many there were to take. The store keeps them, marked.
        `HermesError` when a turn is running, or what was said last is behind a compression."""
        return self._conversation.undo(turns)

    async def retry(self, **options: Any) -> Turn:
        """Undo the last turn and ask its prompt again; `HermesError` when there is none, else as `stream`."""
        return await self._player.to_the_end(self.retrying(**options))

    def retrying(self, **options: Any) -> AsyncGenerator[Event, None]:
        """The events of `retry`, as they happen. What is refused is refused before anything is taken back."""
        return self._conversation.retried(self.stream, options)

    def configure(self, **changes: Any) -> None:
        """Change settings from the next turn on; `SettingsError` names what is unknown or out of range."""
        from hermes_kernel.limits import turn_limits

        self._player.idle("change settings")
        self._equipment.configure(changes)
        self._session.limit(turn_limits(self.settings))

    def warm(self) -> None:
        """Import what the first turn needs. For a thread, while a person is still typing."""
        self.learning.warm()

    def close(self) -> None:
        """Leave: stop a turn that runs, end the local model, hand the journal to the store. Can be called again."""
        self.stop("kernel")
        with ExitStack() as steps:  # the last first, and each whatever another raises
            steps.callback(self.learning.let_go, self._ground.close)
            for step in (self._session.close, self.blocking.close, self._equipment.close, self._player.settle):
                steps.callback(step)
            steps.callback(self.learning.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """`close`, and wait until the connections of this loop are closed too."""
        self.stop("kernel")
        await self._equipment.aclose()
        self.close()
