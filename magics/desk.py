"""One notebook's agent, its settings, and what runs in a cell: one thing at a time, which can be stopped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hermes_kernel.errors import HermesError
from hermes_kernel.settings import FIXED, Settings
from hermes_kernel.view import Picture
from hermes_kernel.view.sights import Sight
from hermes_kernel.world.run import this_run
from hermes_kernel.world.stop import Stop, Stopped
from magics.cassettes import wished
from magics.cells import Cells
from magics.frontend import Frontend, frontend
from magics.options import Options
from magics.painting.live import Live
from magics.painting.painter import Painter, Scroll, Silent, Still
from magics.painting.sighted import Watching, watching
from magics.person import NotebookPerson
from magics.verdict import BEFORE, show_turns, stopped

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.agent import Agent
    from hermes_kernel.world.store import Store
    from magics.panels.board import Board


ECHO = 0.05  # seconds after a stop in which a second press is still heard here; IPython would lose its reply to it


class Desk:
    """Where person and agent meet. The agent is made when first needed; ``turns`` counts those that have ended,
    ``boards`` are the panels that can be pressed, by name. ``changed`` hears which settings a person has changed."""

    def __init__(self, shell: InteractiveShell, cells: Cells, changed: Callable[[Collection[str]], None]) -> None:
        self.shell = shell
        self.cells = cells
        self.person = NotebookPerson(shell)
        self._agent: Agent | None = None
        self._changes: dict[str, Any] = {}
        self._changed = changed
        self._warm = False
        self._press: Stop | None = None
        self.turns = 0
        self.boards: dict[str, Board] = {}
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
            self._agent.learning.stays = not this_run()
        return self._agent

    @property
    def store(self) -> Store:
        """Where this notebook's conversations are kept, with all others; raises as `agent`."""
        return cast("Store", self.agent.store)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._agent.settings if self._agent else Settings.load(**self._changes)

    @property
    def home(self) -> str:
        """Where everything is kept, in words; of a folder that a `spec` throws away only that."""
        home = self.agent.settings.home
        return str(home) if home == Settings.load(**self._changes).home else "a new one, thrown away in the end"

    def configure(self, **changes: Any) -> None:
        """Change settings from here on.

        Raises:
            SettingsError: a setting is unknown or out of range; nothing is changed.
            HermesError: it cannot be changed any more.
        """
        if self._agent is None:
            Settings.load(**self._changes | changes)
        elif not self._begun and self._needs_another(changes):
            self._begin_anew(changes)
        elif fixed := sorted(FIXED & changes.keys()):
            name = fixed[0]
            raise HermesError(
                f"{name} can be set only before the first turn. Set HERMES_{name.upper()} and restart the kernel."
            )
        else:
            self._agent.configure(**changes)
        self._changes |= changes
        self._changed(changes)

    @property
    def _begun(self) -> bool:
        """Something was asked already."""
        return self.turns > 0 or bool(self._agent and self._agent.turn.starts)

    def _needs_another(self, changes: dict[str, Any]) -> bool:
        """An agent cannot change so: it stands on what is changed, or on the `spec` that a replay implies."""
        wanted = Settings.load(**self._changes | changes)
        return bool(FIXED & changes.keys()) or wanted.spec != self.agent.settings.spec

    def _begin_anew(self, changes: dict[str, Any]) -> None:
        """Another agent in place of one whom nobody has asked anything; one like it where that cannot be."""
        before, settled = self._agent, self._changes
        self.close()
        self._warm = False
        self._changes = settled | changes
        try:
            self.agent.configure(**{name: value for name, value in changes.items() if name not in FIXED})
        except Exception:
            self.close()
            self._changes = settled
            raise
        finally:
            if self.shell.user_ns.get("hermes") is before:
                self.shell.push({"hermes": self.agent}, interactive=False)

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
        for board in tuple(self.boards.values()):
            board.fold()
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.close()

    # --- what runs

    @asynccontextmanager
    async def stoppable(self) -> AsyncIterator[Stop]:
        """Something of ours runs in this cell. Interrupt and `stop` press its latch, and stop the agent's turn, too.

        Raises:
            HermesError: something runs already.
            KeyboardInterrupt: it was stopped while it awaited something that gives up then.
        """
        from hermes_kernel.world.interrupt import pressing
        from hermes_kernel.world.tools.python import inside_user_code

        if self.running:
            raise HermesError("A turn is running in this notebook. Stop it or wait for it, then ask.")
        self.offer()
        self._press = press = Stop()
        with pressing(press.press, inside_user_code):
            watch = asyncio.ensure_future(self._forward(press))
            try:
                yield press
            except Stopped:
                raise stopped(BEFORE) from None
            finally:
                watch.cancel()
                self.turns += 1
                self._press = None
            if press.by:
                await asyncio.sleep(ECHO)

    async def warmed(self, press: Stop) -> None:
        """The first turn's imports, beside the loop, so that an interrupt is heard meanwhile."""
        if not self._warm:
            await press.race(asyncio.to_thread(self.agent.warm))
            self._warm = True

    @contextmanager
    def asking(self, options: Options) -> Iterator[None]:
        """The settings that these options are, for as long as this lasts.

        Raises:
            HermesError: an option goes with another, which is missing, or names no file.
        """
        settings = self.agent.settings
        changes = wished(options, settings)
        before = {name: getattr(settings, name) for name in changes}
        if changes:
            self.agent.configure(**changes)
        try:
            yield
        finally:
            if changes:
                self.agent.configure(**before)

    @property
    def steady(self) -> bool:
        """What is shown is to be the same each time, so nothing is updated where it stands."""
        settings = self.settings
        return (settings.spec or bool(settings.replay)) and not settings.replay_gaps

    def painter(self, options: Options, press: Stop) -> Painter:
        """What shows a turn where this cell is looked at."""
        settings = self.agent.settings
        plain = options.plain or settings.plain
        blank = Picture(options.budget or settings.max_iterations)
        seen = replace(blank, replayed=bool(settings.replay and not settings.record))
        if options.quiet:
            return Silent()
        match frontend(self.shell):
            case Frontend.TERMINAL | Frontend.CONSOLE if not plain:
                return Scroll(seen)
            case Frontend.NOTEBOOK if not plain and not self.steady:
                return Live(self.shell, seen, press.press, self.person)
        return Still(self.shell, blank, plain=plain)

    def watching(self, begun: Sight, press: Callable[[], None], options: Options) -> Watching:
        """What shows work that is no turn."""
        return watching(self.shell, begun, press, replace(options, plain=options.plain or self.steady))

    def hand_over(self, value: object, name: str = "") -> None:
        """What a cell made, in ``_``, ``Out`` and the variable that was asked for, without showing it a second time."""
        self.shell.displayhook.update_user_ns(value)
        if name:
            self.shell.push({name: value}, interactive=False)

    async def _forward(self, press: Stop) -> None:
        """A press before the agent has a turn to stop is passed on once it has."""
        await press.wait()
        self.agent.stop(press.by)
