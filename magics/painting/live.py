"""The *live* painter: a line that becomes a panel once a turn is slow, and the answer below it. At most ten paintings a
second, and the panel once a second where nothing happens but time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.events import (
    Asking,
    CallDelta,
    Event,
    Final,
    Outcome,
    Replied,
    Started,
    Subagent,
    TextDelta,
    ThoughtDelta,
)
from hermes_kernel.view import Picture, Status, heading_html, heading_plain, see
from hermes_kernel.view.turn.children import descendants
from hermes_kernel.view.turn.panel import panel
from magics.painting.answer import Answer, Output
from magics.painting.stage import Spot, Stage
from magics.painting.stopping import widgets_there
from magics.painting.turning import SHEET, Turning

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from magics.person import NotebookPerson

PAUSE = 0.1  # seconds between two paintings at least
PANEL = 0.25  # … of the panel, which is several widgets …
REST = 0.5  # … and while there is nothing but more words
LINGER = 0.4  # seconds after which a turn is slow enough for a panel
PIECES = TextDelta | ThoughtDelta | CallDelta


class Live:
    """One turn of one cell. Its ``person`` is asked on its stage."""

    def __init__(
        self, shell: InteractiveShell, blank: Picture, press: Callable[[], None], person: NotebookPerson
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._picture = blank
        self._heading = Heading(shell, press, person, self._want)
        self._answer = Answer(lambda: Output(shell))
        self._painted = self._headed = self._loop.time()
        self._stale = False
        self._since = Since(self._loop.time)
        self._due: asyncio.TimerHandle | None = None
        self._over = False
        self._ticker = asyncio.ensure_future(self._tick())

    def show(self, event: Event) -> None:
        self._picture = see(self._picture, event)
        if _asks(event):
            self._rise()
        elif isinstance(event, Subagent):
            if not isinstance(event.event, PIECES):
                self._since.told(self._picture)
            return  # what subagents are at is painted once a second
        ahead = _ahead_of_output(self._picture, event)
        if ahead:
            self._heading.appear()
        self._stale = self._stale or not isinstance(event, PIECES)
        if ahead or isinstance(event, Replied):
            self._paint(ahead=True)
        elif self._due is None:
            wait = max(PAUSE - (self._loop.time() - self._painted), 0.0)
            self._due = self._loop.call_later(wait, self._paint)

    def close(self) -> None:
        self._over = True
        self._ticker.cancel()
        if self._picture.final is None and self._answer.blank and not self._heading.shown:
            self._cancel()
            self._heading.leave()
            return
        if self._picture.final is None:
            self._picture = see(self._picture, Final(Outcome.FAILED, ""))
        self._cancel()
        self._heading.hold(self._picture)
        self._answer.finish(self._picture)
        self._heading.finish(self._picture)

    def _paint(self, *, ahead: bool = False) -> None:
        """The answer, and the panel where it has news and has rested; if it has not, again in a moment."""
        self._cancel()
        now = self._painted = self._loop.time()
        rested = now - self._headed
        first = bool(self._picture.text) and not self._heading.there
        if ahead or first or rested >= (PANEL if self._stale else REST):
            self._head()
        self._answer.paint(self._picture)
        if self._stale:
            self._due = self._loop.call_later(PAUSE, self._paint)

    def _head(self) -> None:
        self._headed, self._stale = self._loop.time(), False
        if self._heading.shown or self._picture.text:
            self._stale = not self._heading.paint(self._picture, self._since.told(self._picture))

    def _cancel(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _want(self) -> None:
        """A painting soon; from any thread, when a person has opened something."""
        self._loop.call_soon_threadsafe(self._wanted)

    def _wanted(self) -> None:
        if not self._over:
            self._paint(ahead=True)

    def _rise(self) -> None:
        """A person is asked, and it is on the panel that they are: it has to be there."""
        self._heading.rise(widgets_there(), self._picture, self._since.told(self._picture))

    async def _tick(self) -> None:
        """Seconds go on where no event comes; after a moment there is a panel, and something to press."""
        await asyncio.sleep(LINGER)
        self._heading.appear()
        self._paint(ahead=True)
        widgets = await asyncio.to_thread(widgets_there)
        self._heading.rise(widgets, self._picture, self._since.told(self._picture))
        while True:
            await asyncio.sleep(1.0)
            self._paint(ahead=True)


class Since:
    """For how many seconds a turn, called ``""``, and each subagent below it have been at what they are at."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self._known: dict[str, tuple[Status, float]] = {}

    def told(self, picture: Picture) -> dict[str, float]:
        now = self._time()
        at = {"": picture.status} | {child.lease: child.picture.status for child in descendants(picture)}
        before = self._known
        self._known = {
            name: before[name] if name in before and before[name][0] == status else (status, now)
            for name, status in at.items()
        }
        return {name: now - began for name, (_, began) in self._known.items()}


class Heading:
    """What stands above the answer: nothing, a line, a panel where there are widgets, and at last a document."""

    def __init__(
        self, shell: InteractiveShell, press: Callable[[], None], person: NotebookPerson, wanted: Callable[[], None]
    ) -> None:
        self._shell = shell
        self._spot = Spot(shell)
        self._press = press
        self._person = person
        self._wanted = wanted
        self._time = asyncio.get_running_loop().time
        self._turning: Turning | None = None
        self._html = ""
        self.shown = False

    @property
    def there(self) -> bool:
        """It has its place, above whatever comes."""
        return self._turning is not None or bool(self._html)

    def appear(self) -> None:
        self.shown = True

    def rise(self, widgets: Any, picture: Picture, since: Mapping[str, float]) -> None:
        """A panel in place of the line, which stays where there are no widgets."""
        if widgets is None or self._turning is not None:
            return
        self.shown = True
        stage = Stage(self._shell, widgets, name="turn", spot=self._spot, sheet=SHEET)
        self._turning = Turning(stage, panel(picture, since), self._press, self._wanted, self._time)
        self._turning.show({"text/html": heading_html(picture), "text/plain": ""})
        self._person.stage = stage

    def paint(self, picture: Picture, since: Mapping[str, float]) -> bool:
        """Whether all there is to see is shown now."""
        self.shown = True
        if self._turning is not None:
            return self._turning.paint(panel(picture, since), picture)
        html = heading_html(picture, since.get("", 0.0), since)
        if html != self._html:
            self._html = html
            self._spot.put({"text/html": html, "text/plain": ""})
        return True

    def hold(self, picture: Picture) -> None:
        """Have a place above the answer."""
        if not self.there:
            self.paint(picture, {})

    def finish(self, picture: Picture) -> None:
        """What stays in the notebook: no widget, no button."""
        self.leave()
        bundle = {"text/html": heading_html(picture), "text/plain": heading_plain(picture)}
        if self._turning is None:
            self._spot.put(bundle)
        else:
            self._turning.settle(bundle, picture)

    def leave(self) -> None:
        """Nobody is asked here any more."""
        self._person.stage = None


def _asks(event: Event) -> bool:
    """A person is asked, by the turn or far below it."""
    return isinstance(event, Asking) or (isinstance(event, Subagent) and _asks(event.event))


def _ahead_of_output(picture: Picture, event: Event) -> bool:
    """A tool is about to show something below, or to keep the loop, and then nothing is painted until it ends."""
    match event:
        case Replied():
            return bool(event.calls)
        case Started(call_id):
            return any(row.call_id == call_id and row.name == "python" for row in picture.rows)
    return False
