"""The public `Agent`: settings, a model, tools and a log put together; one conversation at a time, one turn at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from hermes_kernel.core.events import Asked, Event, Opened, Undone
from hermes_kernel.core.messages import Image, ToolSpec, Usage, User
from hermes_kernel.core.redact import redact
from hermes_kernel.core.text import scrub
from hermes_kernel.core.turn import Turn, decide
from hermes_kernel.prompt import small_tools, system_prompt
from hermes_kernel.session import HermesError, Session, limits
from hermes_kernel.settings import LOCAL, Settings
from hermes_kernel.world.blocking import Blocking
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.interrupt import pressing
from hermes_kernel.world.local import available
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.ports import Archive, Clock, Model, Person, Toolbox
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store, StoreError
from hermes_kernel.world.tools import Tool, Tools, inside_user_code

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Agent:
    """An agent with tools and a conversation.

    Args:
        model: the model to ask by name; None takes the settings'. Or a `Model` of your own, such as a scripted one.
        tools: functions marked with `tool` (or plain ones), beside the built-in tools.
        settings: where to start from; None reads the environment and ``kernel.toml``.
        session: None or ``"new"``, ``"last"``, or the id of a session to go on with.
        person: who is asked what only a person can say; None: nobody is there.
        shell: the notebook's IPython, in whose namespace `python` works; None: a namespace of the agent's own.
        clock: time and chance; None: the machine's.
        log: where facts are kept; None: the store under ``settings.home``.
        notebook: the name of the document this happens in.
        changes: any setting by name, such as ``max_iterations=20``.

    Raises:
        SettingsError: a setting is unknown or out of range.
        HermesError: there is no such session, or another process is in it.
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
        named = model if isinstance(model, str) else None
        self.settings = settings.with_(model=named, **changes) if settings else Settings.load(model=named, **changes)
        self.notebook = notebook
        self._clock: Clock = clock or SystemClock()
        self.tools = Tools(
            self.settings, person=person, shell=shell, home=self.settings.home, cwd=Path.cwd(), clock=self._clock
        ).builtins()
        self._log: Archive = log or Store(self.settings.home, clock=self._clock, ids=_new_id)
        self._model: Model | None = None if model is None or named else model  # type: ignore[assignment]
        self._session = Session(self._log, limits(self.settings))
        self._stop: Stop | None = None
        self._blocking = Blocking()
        self._folding: threading.Thread | None = None
        for each in tools:
            self.add(each)
        self.new() if session in (None, "new") else self.resume(session)

    # --- what it knows

    @property
    def turn(self) -> Turn:
        """The latest turn, finished or not."""
        return self._session.turn

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
        return self._stop is not None

    # --- asking

    async def ask(self, prompt: str, **options: Any) -> Turn:
        """Play a turn to its end; see `stream` for the options and what is raised."""
        async with aclosing(self.stream(prompt, **options)) as events:
            async for _ in events:
                pass
        return self.turn

    def ask_sync(self, prompt: str, **options: Any) -> Turn:
        """`ask` from plain code, also in a notebook cell. Ctrl-C stops the turn cleanly."""
        return self._blocking.run(self._ask_interruptibly(prompt, options))

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
        text = self._checked(prompt, budget)
        names = None if tools is None else tuple(tools)
        model = self._ready(names)
        asked = Asked(text, tuple(images), _first_route(model), budget or 0)
        async with aclosing(self._play(asked, timeout, names)) as events:
            async for event in events:
                yield event

    async def finish(self) -> Turn:
        """Go on with a turn that a crash cut off; nothing happens when the last turn is over.

        Raises:
            HermesError: a turn is running, or the store cannot be written.
        """
        if decide(self.turn) is not None:
            self._ready(None)
            async with aclosing(self._play(None, None, None)) as events:
                async for _ in events:
                    pass
        return self.turn

    def stop(self, by: str = "person") -> None:
        """Stop the running turn, from any thread. Without one, nothing happens."""
        if self._stop is not None:
            self._stop.press(by)

    # --- tools and conversations

    def add(self, tool: Callable[..., Any] | Tool) -> None:
        """Offer a tool from the next model call on; the latest of a name wins."""
        self.tools.add(tool)

    def new(self, *, parent: str = "") -> None:
        """Begin another conversation; this one stays in the store."""
        self._idle("begin another session")
        opened = Opened(
            session_id=_new_id(),
            system=self._system(),
            model=self.settings.model,
            parent=parent,
            notebook=self.notebook,
            transcript=self.turn.transcript if parent else (),
        )
        with _one_line():
            self._session.open(opened)
        self.tools.begin_session(opened.session_id)

    def branch(self) -> None:
        """Go on with a copy of this conversation and leave the original as it is."""
        self.new(parent=self.session_id)

    def resume(self, session: str) -> Turn:
        """Go on with an earlier conversation: its id, or ``"last"``. The conversation is restored, not the notebook's
        variables. The latest turn; `finish` goes on with one that was cut off.

        Raises:
            HermesError: there is no such session, or another process is in it.
        """
        self._idle("resume a session")
        with _one_line():
            self._session.load(session)
        self.tools.begin_session(self.session_id)
        return self.turn

    def undo(self, turns: int = 1) -> int:
        """Take the last turns out of the conversation; how many there were to take. The store keeps them, marked.

        Raises:
            HermesError: a turn is running, or the store cannot be written.
        """
        self._idle("undo")
        with _one_line():
            return self._session.undo(turns)

    async def retry(self, **options: Any) -> Turn:
        """Undo the last turn and ask its prompt again.

        Raises:
            HermesError: there is nothing to retry, or as `stream`.
        """
        prompt = self.turn.messages[:1]
        if not prompt or not isinstance(prompt[0], User):
            raise HermesError("There is no turn to retry in this session.")
        self.undo()
        return await self.ask(prompt[0].text, images=prompt[0].images, **options)

    def configure(self, **changes: Any) -> None:
        """Change settings from the next turn on; the conversation goes on.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        self._idle("change settings")
        settings = self.settings.with_(**changes)
        moved = {"base_url", "api_key", "model", "fallback_models"} & changes.keys()
        self.settings = settings
        self.tools.configure(settings)
        self._session.limit(limits(settings))
        if moved or isinstance(self._model, OpenAIModel):
            self._drop_model()

    def warm(self) -> None:
        """Import what the first turn needs. For a thread, while a person is still typing."""
        if self.settings.base_url or self.settings.api_key or available():
            model = self._ready(None)
            if isinstance(model, OpenAIModel):
                model.warm()

    def close(self) -> None:
        """Leave: stop a turn that runs, end the local model, hand the journal to the store. Can be called again."""
        self.stop("kernel")
        self._drop_model()
        self._blocking.close()
        self._session.close()
        if self._folding is not None:
            self._folding.join(10)
        self._log.close()

    async def aclose(self) -> None:
        """`close`, and wait until the connections of this loop are closed too."""
        if isinstance(self._model, OpenAIModel):
            await self._model.aclose()
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # --- inside

    async def _play(
        self, asked: Asked | None, timeout: float | None, names: tuple[str, ...] | None
    ) -> AsyncGenerator[Event, None]:
        self._idle("ask")
        self._stop = stop = Stop()
        seconds = self.settings.turn_seconds if timeout is None else timeout
        try:
            with _one_line():
                world = Performer(self._ready(names), self._offered(names), self._clock, stop, self._redact)
                self.tools.begin_turn()
                if asked is not None:
                    self._session.close_turn("kernel")
                    self._session.keep(asked)
                    yield asked
                async with stop.after(self._clock.sleep, seconds), aclosing(self._session.play(world)) as events:
                    async for event in events:
                        yield event
        finally:
            self._stop = None
            self._fold()

    async def _ask_interruptibly(self, prompt: str, options: dict[str, Any]) -> Turn:
        press = Stop()
        with pressing(press, inside_user_code):
            watch = asyncio.ensure_future(self._pass_on(press))
            try:
                return await self.ask(prompt, **options)
            finally:
                watch.cancel()

    async def _pass_on(self, press: Stop) -> None:
        await press.wait()
        self.stop(press.by)

    def _checked(self, prompt: object, budget: int | None) -> str:
        if not isinstance(prompt, str) or not prompt.strip():
            raise HermesError("The prompt is empty. Say what is to be done.")
        if budget is not None and budget < 1:
            raise HermesError(f"A budget of {budget} is too small: it must be 1 model call or more.")
        return self._redact(scrub(prompt))

    def _idle(self, what: str) -> None:
        if self.busy:
            raise HermesError(f"A turn is running in this session: stop it or wait for it, then {what}.")

    def _ready(self, names: tuple[str, ...] | None) -> Model:
        """The model to ask, made when it is first needed."""
        unknown = set(names or ()) - set(self.tools.names())
        if unknown:
            raise HermesError(f"There is no tool {sorted(unknown)[0]!r}. There are: {', '.join(self.tools.names())}.")
        if self._model is None:
            self.settings = self.settings.settled(available)
            self._model = OpenAIModel(self.settings, self._clock)
        return self._model

    def _drop_model(self) -> None:
        model, self._model = self._model, None
        if isinstance(model, OpenAIModel):
            model.close()

    def _system(self) -> str:
        return system_prompt(
            self.settings,
            self._offered(None).specs(),
            small=self._small,
            cwd=str(Path.cwd()),
            notebook=self.notebook,
            now=self._clock.now(),
        )

    @property
    def _small(self) -> bool:
        """The model is the local one: short prompts, few tools."""
        return (self.settings.base_url or ("" if self.settings.api_key else LOCAL)).startswith(LOCAL)

    def _offered(self, names: tuple[str, ...] | None) -> Toolbox:
        tools = self.tools if names is None else self.tools.only(names)
        return _FewTools(tools) if self._small else tools

    def _redact(self, text: str) -> str:
        return redact(text, frozenset({str(self.settings.api_key)} - {""}))

    def _fold(self) -> None:
        """Bring the journal into the database, off the turn's way."""
        if self._folding is None or not self._folding.is_alive():
            self._folding = threading.Thread(target=self._fold_quietly, name="hermes-fold")
            self._folding.start()

    def _fold_quietly(self) -> None:
        with suppress(StoreError):
            self._log.fold()


class _FewTools:
    """The same tools, of which a small model is shown a few, briefly described."""

    def __init__(self, tools: Toolbox) -> None:
        self.run = tools.run
        self._specs = tools.specs

    def specs(self) -> tuple[ToolSpec, ...]:
        return small_tools(self._specs())


@contextmanager
def _one_line() -> Iterator[None]:
    """What a store has to say, as the error that faces show."""
    try:
        yield
    except StoreError as error:
        raise HermesError(str(error)) from error
    except KeyError as error:
        raise HermesError(str(error.args[0])) from None


def _new_id() -> str:
    return uuid4().hex


def _first_route(model: Model) -> int:
    return model.first_route() if isinstance(model, OpenAIModel) else 0
