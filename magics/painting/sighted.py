"""Painters of work that is no turn: something that is updated, with a Stop button beside it, or one line at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from hermes_kernel.view.sights import Sight
from magics.frontend import Frontend, frontend
from magics.options import Options
from magics.painting.live import LINGER
from magics.painting.stage import Spot, Stage
from magics.painting.stopping import beside, narrow, stop_button, widgets_there

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

PAUSE = 0.5  # seconds between two paintings


class Watching(Protocol):
    """Shows one piece of work, from its beginning to its end."""

    def show(self, sight: Sight) -> None:
        """It is as far as this."""
        ...

    def close(self) -> None:
        """It is over, or was given up."""
        ...


def watching(shell: InteractiveShell, begun: Sight, press: Callable[[], None], options: Options) -> Watching:
    """What shows it where this cell is looked at."""
    if options.quiet:
        return Unwatched()
    if frontend(shell) is Frontend.NOTEBOOK and not options.plain:
        return Updated(shell, begun, press)
    return AtTheEnd(shell, begun)


class Unwatched:
    """``--quiet``."""

    def show(self, sight: Sight) -> None:
        pass

    def close(self) -> None:
        pass


class AtTheEnd:
    """One line when it is over, the same for the same end."""

    def __init__(self, shell: InteractiveShell, begun: Sight) -> None:
        self._shell = shell
        self._sight = begun

    def show(self, sight: Sight) -> None:
        self._sight = sight

    def close(self) -> None:
        self._shell.display_pub.publish({"text/plain": self._sight.plain()})


class Updated:
    """Painted when it has changed, twice a second at most: rows may be done faster than eyes can follow."""

    def __init__(self, shell: InteractiveShell, begun: Sight, press: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._shell = shell
        self._spot = Spot(shell)
        self._press = press
        self._stage: Stage | None = None
        self._line: Any = None
        self._sight = begun
        self._shown = ""
        self._ticker = asyncio.ensure_future(self._tick())

    def show(self, sight: Sight) -> None:
        self._sight = sight

    def close(self) -> None:
        self._ticker.cancel()
        bundle = {"text/html": self._html(), "text/plain": self._sight.plain()}
        if self._stage is None:
            self._spot.put(bundle)
        else:
            self._stage.settle(bundle)

    async def _tick(self) -> None:
        await asyncio.sleep(LINGER)
        self._paint()
        widgets = await asyncio.to_thread(widgets_there)
        if widgets is not None:
            self._rise(widgets)
        while True:
            await asyncio.sleep(PAUSE)
            self._paint()

    def _rise(self, widgets: Any) -> None:
        """A stage with a Stop button, in place of the line alone."""
        self._stage = Stage(self._shell, widgets, name="sight", spot=self._spot)
        self._line = widgets.HTML(narrow(self._shown))
        row = beside(widgets, self._line, stop_button(widgets, self._press))
        self._stage.show((row,), {"text/html": self._shown, "text/plain": ""})

    def _html(self) -> str:
        return self._sight.html(self._loop.time() - self._began)

    def _paint(self) -> None:
        html = self._html()
        if html == self._shown:
            return
        self._shown = html
        if self._line is not None:
            self._line.value = narrow(html)
        else:
            self._spot.put({"text/html": html, "text/plain": ""})
