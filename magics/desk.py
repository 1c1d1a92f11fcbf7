"""One notebook's agent and how it is asked: settings, prompt, painter, and what becomes of a turn in the namespace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hermes_kernel.core.events import Asked
from hermes_kernel.core.messages import Image, User
from hermes_kernel.core.turn import Turn
from hermes_kernel.session import HermesError
from hermes_kernel.settings import FIXED, Settings
from hermes_kernel.world.folder import here
from hermes_kernel.world.stop import Stop, Stopped
from magics.cells import Cells
from magics.frontend import Frontend, frontend
from magics.live import Live
from magics.options import Options, parse
from magics.painter import Painter, Scroll, Silent, Still
from magics.person import NotebookPerson
from magics.prompt import Prompt
from magics.skills import read_skill, spoken
from magics.verdict import judged, readable, show_turns, stopped

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.agent import Agent
    from hermes_kernel.world.store import Store


ECHO = 0.05  # seconds after a stop in which a second press is still heard here; IPython would lose its reply to it


class Desk:
    """Where person and agent meet. The agent is made when first needed; ``turns`` counts those that have ended."""

    def __init__(self, shell: InteractiveShell, cells: Cells) -> None:
        self.shell = shell
        self.cells = cells
        self.person = NotebookPerson(shell)
        self._agent: Agent | None = None
        self._changes: dict[str, Any] = {}
        self._warm = False
        self._press: Stop | None = None
        self.turns = 0
        show_turns(shell)

    @property
    def agent(self) -> Agent:
        """This notebook's agent.

        Raises:
            SettingsError: a setting is wrong.
            HermesError: the store cannot be used.
        """
        if self._agent is None:
            from hermes_kernel.agent import Agent

            name = Path(os.environ.get("JPY_SESSION_NAME", "")).name
            self._agent = Agent(person=self.person, shell=self.shell, notebook=name, **self._changes)
        return self._agent

    @property
    def store(self) -> Store:
        """Where this notebook's conversations are kept, with all others; raises as `agent`."""
        return cast("Store", self.agent.store)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._agent.settings if self._agent else Settings.load(**self._changes)

    def configure(self, **changes: Any) -> None:
        """Change settings from here on.

        Raises:
            SettingsError: a setting is unknown or out of range; nothing is changed.
            HermesError: it cannot be changed any more.
        """
        if self._agent is None:
            Settings.load(**self._changes | changes)
        elif fixed := sorted(FIXED & changes.keys()):
            name = fixed[0]
            raise HermesError(
                f"{name} can be set only before the first turn. Set HERMES_{name.upper()} and restart the kernel."
            )
        else:
            self._agent.configure(**changes)
        self._changes |= changes

    def offer(self) -> None:
        """Offer the tools that are defined in the notebook at this moment."""
        from hermes_kernel.world.tools.tool import tools_in

        for made in tools_in(self.shell.user_ns):
            self.agent.add(made)

    @property
    def running(self) -> bool:
        """A turn is being played in a cell."""
        return self._press is not None

    def stop(self) -> None:
        """Stop whatever turn runs, from any thread. Pressed twice, it is pressed."""
        if self._press is not None:
            self._press.press()
        if self._agent is not None:
            self._agent.stop()

    def close(self) -> None:
        """Leave: nothing of this desk goes on."""
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.close()

    # --- asking

    async def ask(self, line: str, body: str) -> Turn:
        """One turn, shown as it goes.

        Raises:
            HermesError: it could not be asked, or it failed. One or two lines say why.
            KeyboardInterrupt: it was stopped.
        """
        options = parse(line)
        with readable():
            prompt = Prompt(self.shell.user_ns, here())
            text = _heard(lambda: self._text(prompt, options, body))
            if options.session:
                self._switch(options.session)
            with self._for_this_cell(options):
                return await self._play(text, tuple(prompt.images), options)

    async def retry(self, line: str) -> Turn:
        """The last turn, taken back and asked again; as `ask`."""
        options = parse(line)
        with readable():
            asked = self.agent.turn.messages[:1]
            if not asked or not isinstance(asked[0], User):
                raise HermesError("There is no turn to retry in this session.")
            self.agent.undo()
            with self._for_this_cell(options):
                return await self._play(asked[0].text, asked[0].images, options)

    def _text(self, prompt: Prompt, options: Options, body: str) -> str:
        """What the model reads: skills, cells run since the last turn, then the prompt itself."""
        home = self.settings.home
        named, body = spoken(home, "\n".join(part for part in (options.words, body) if part))
        said = prompt.expand(body)
        if not said and named:
            said = "Do what the skill says."
        if not said:
            raise HermesError("The prompt is empty. Say what is to be done.")
        skills = [read_skill(home, name) for name in (*options.skills, *named)]
        cells = self.cells.told() if options.cells and self.settings.cells else ""
        return "\n\n".join(part for part in (*skills, cells, said) if part)

    def _switch(self, session: str) -> None:
        if session == "new":
            self.agent.new()
        elif session != self.agent.session_id:
            self.agent.resume(session)

    @contextmanager
    def _for_this_cell(self, options: Options) -> Iterator[None]:
        """Another model, for as long as this lasts."""
        before = self.agent.settings.model
        if options.model:
            self.agent.configure(model=options.model)
        try:
            yield
        finally:
            if options.model:
                self.agent.configure(model=before)

    async def _play(self, text: str, images: tuple[Image, ...], options: Options) -> Turn:
        from hermes_kernel.world.interrupt import pressing
        from hermes_kernel.world.tools.python import inside_user_code

        if self.running:
            raise HermesError("A turn is running in this notebook. Stop it or wait for it, then ask.")
        self.offer()
        self._press = press = Stop()
        with pressing(press.press, inside_user_code):
            painter = self._painter(options, press)
            watch = asyncio.ensure_future(self._forward(press))
            try:
                await self._warmed(press)
                await self._stream(text, images, options, painter)
            except Stopped:
                raise stopped("Interrupted before the model was asked.") from None
            finally:
                watch.cancel()
                painter.close()
                self.turns += 1
                self._press = None
            if press.by:
                await asyncio.sleep(ECHO)
        turn = self.agent.turn
        self._hand_over(turn, options.name)
        return judged(turn)

    async def _stream(self, text: str, images: tuple[Image, ...], options: Options, painter: Painter) -> None:
        events = self.agent.stream(
            text, images=images, budget=options.budget, timeout=options.timeout, tools=options.tools
        )
        async with aclosing(events) as told:
            async for event in told:
                if isinstance(event, Asked):
                    self.cells.forget()
                painter.show(event)

    async def _forward(self, press: Stop) -> None:
        """A press before the agent has a turn to stop is passed on once it has."""
        await press.wait()
        self.agent.stop(press.by)

    async def _warmed(self, press: Stop) -> None:
        """The first turn's imports, beside the loop, so that an interrupt is heard meanwhile."""
        if not self._warm:
            await press.race(asyncio.to_thread(self.agent.warm))
            self._warm = True

    def _painter(self, options: Options, press: Stop) -> Painter:
        limit, plain = options.budget or self.agent.settings.max_iterations, options.plain or self.settings.plain
        if options.quiet:
            return Silent()
        match frontend(self.shell):
            case Frontend.TERMINAL | Frontend.CONSOLE if not plain:
                return Scroll(limit)
            case Frontend.NOTEBOOK if not plain:
                return Live(self.shell, limit, press.press)
        return Still(self.shell, limit, plain=plain)

    def _hand_over(self, turn: Turn, name: str) -> None:
        """The turn in ``_``, ``Out`` and the variable that was asked for, without showing it a second time."""
        self.shell.displayhook.update_user_ns(turn)
        if name:
            self.shell.push({name: turn}, interactive=False)


def _heard(write: Callable[[], str]) -> str:
    """What `write` writes, while an interrupt is heard: views run the code of variables, and files may be far away."""
    from hermes_kernel.world.interrupt import pressing
    from hermes_kernel.world.tools.usercode import call_user, inside_user_code

    try:
        with pressing(lambda: None, inside_user_code):
            return call_user(write)
    except KeyboardInterrupt:
        raise stopped("Interrupted before the model was asked.") from None
