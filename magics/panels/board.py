"""What every panel stands on: its controls, and the loop on which whatever is pressed is done, one thing at a time.

Keeps true: a handler runs on the kernel's loop and never on the thread that heard the click; what goes wrong is one
readable line in the panel; when the panel is over, what stays in the notebook is a document.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.view import clean, escape
from hermes_kernel.view.markup import dot, status
from magics.commands.table import Shown, bundle
from magics.painting.stage import Stage, Understudied, dismiss
from magics.panels.confirming import Confirmed
from magics.verdict import readable

if TYPE_CHECKING:
    from magics.desk import Desk

P = ParamSpec("P")
T = TypeVar("T")
Deed = Callable[[], Awaitable[None]]
Told = Callable[[T], Awaitable[None]]

REST = 0.2  # seconds after a key before what was typed is searched for: longer than between two keys
IDLE = 1_800.0  # seconds without a touch after which a panel becomes a document
LABEL = 60  # characters of a button


class Board:
    """One panel. ``shown`` makes the document that stays of it, as things are when it is asked."""

    def __init__(self, desk: Desk, name: str, shown: Callable[[], Shown]) -> None:
        self.desk = desk
        self.name = name
        self._shown = shown
        self._loop = asyncio.get_running_loop()
        self._widgets: Any = import_module("ipywidgets")
        spot = Understudied(desk.shell)
        self._stage = Stage(desk.shell, self._widgets, name=name, spot=spot, sheet=spot.sheet)
        self._made: list[Any] = []
        self._line = self.page()
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._hush = threading.local()
        self._document: dict[str, str] = {}
        self._asks: list[Confirmed] = []

    # --- controls

    def button(self, label: str, deed: Deed, *, hint: str = "", sure: str = "") -> Any:
        """A button. `sure` is what it says once it is pressed, where it takes a second press before any other."""
        made = self._widgets.Button(description=_label(label), tooltip=clean(hint or label), layout={"width": "auto"})
        if sure:
            asks = Confirmed(self._loop, made, _label(sure), deed)
            self._asks.append(asks)
            deed = asks.press
        made.on_click(lambda _: self.do(deed))
        return self._mine(made)

    def field(self, label: str, typed: Told[str] | None = None, *, hint: str = "") -> Any:
        """A line to type in: `typed` is told what stands in it, a moment after the last key. Without it, what stands
        there is its ``value``, when it is wanted."""
        told = typed or _unheard
        made = self._widgets.Text(
            description=_label(label), placeholder=clean(hint), layout={"width": "28em", "max_width": "100%"},
            style={"description_width": "initial"},
        )  # fmt: skip
        last: list[asyncio.TimerHandle] = []

        def later() -> None:
            while last:
                last.pop().cancel()
            last.append(self._loop.call_later(REST, lambda: self._start(lambda: told(made.value))))

        made.observe(lambda _: self._heard(later), "value")
        return self._mine(made)

    def choice(self, label: str, options: Sequence[tuple[str, Any]], chosen: Told[Any] | None = None) -> Any:
        """One of several, by its name; `chosen` as in `field`."""
        told = chosen or _unheard
        made = self._widgets.Dropdown(
            description=_label(label), options=[(clean(name), value) for name, value in options],
            layout={"width": "auto", "max_width": "100%"}, style={"description_width": "initial"},
        )  # fmt: skip
        made.observe(lambda _: self._heard(lambda: self._start(lambda: told(made.value))), "value")
        return self._mine(made)

    def listing(self, label: str, chosen: Told[Any], *, rows: int = 8) -> Any:
        """A list of which one is chosen, by mouse or arrow keys; `fill` says what is in it."""
        made = self._widgets.Select(
            description=_label(label), rows=rows, layout={"width": "100%", "max_width": "100%"},
            style={"description_width": "0"},
        )  # fmt: skip
        made.observe(lambda _: self._heard(lambda: self._start(lambda: chosen(made.value))), "value")
        return self._mine(made)

    def area(self, label: str, *, rows: int = 5) -> Any:
        """Several lines to type in. Nobody is told of a key: what stands there is its ``value``, when it is wanted."""
        return self._mine(self._widgets.Textarea(
            description=_label(label), placeholder=_label(label), rows=rows, style={"description_width": "0"},
            layout={"width": "100%", "max_width": "60em"},
        ))  # fmt: skip

    def linked(self) -> Any:
        """A place for HTML whose links are those of a notebook: relative to it, and opened where it is open. What is in
        it is put by `link`."""
        return self._mine(self._widgets.Output())

    def link(self, place: Any, html: str) -> None:
        """This, which somebody has made safe, in a `linked` place; nothing for nothing."""
        shown = {"output_type": "display_data", "data": {"text/html": html, "text/plain": ""}, "metadata": {}}
        place.outputs = (shown,) if html else ()

    def page(self, html: str = "", name: str = "") -> Any:
        """A place for HTML that somebody has made safe."""
        made = self._widgets.HTML(html)
        if name:
            made.add_class(name)
            made.tabbable = True  # it may scroll, by keyboard as well
        return self._mine(made)

    def row(self, *children: Any) -> Any:
        """Side by side, and below one another where it is narrow."""
        return self._mine(self._widgets.HBox(children, layout={"flex_flow": "row wrap", "align_items": "center"}))

    def column(self, *children: Any) -> Any:
        """One below the other."""
        return self._mine(self._widgets.VBox(children))

    def fill(self, listing: Any, options: Sequence[tuple[str, Any]], value: Any = None) -> None:
        """Other options, one of them chosen or none, without anybody being told."""
        self.quietly(lambda: _fill(listing, [(clean(label), key) for label, key in options], value))

    def quietly(self, change: Callable[[], None]) -> None:
        """Change controls as a program: none of them takes it for a person's doing. What a person does meanwhile comes
        on another thread, and is heard."""
        self._hush.deep = self._hushed + 1
        try:
            change()
        finally:
            self._hush.deep -= 1

    def _mine(self, made: Any) -> Any:
        """A control that goes when the panel does, wherever it stands then."""
        self._made.append(made)
        return made

    # --- what is done

    def do(self, deed: Deed) -> None:
        """Do this on the loop, after what is being done; from any thread."""
        self._loop.call_soon_threadsafe(self._start, deed)

    def later(self, seconds: float, deed: Deed) -> None:
        """Do this after so long, if the panel is there then. It is nobody's touch."""
        self._loop.call_later(seconds, self._begin, deed)

    def meanwhile(self, deed: Deed) -> None:
        """Do this beside whatever else is pressed: it may take long, and goes on where the panel is over."""
        self._spawn(self._done(deed))

    async def away(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """What `work` gives, found on a thread: the loop plays a turn meanwhile."""
        return await asyncio.to_thread(work, *args, **named)

    def say(self, words: str, tone: str = "") -> None:
        """What came of it, in one line that is read out. ``tone`` is one of `look.TONES`."""
        self._line.value = status(dot(tone) + escape(words)) if words else ""

    # --- being there

    def show(self, *children: Any) -> None:
        """Show the panel, in place of the one of the same name that was there before."""
        before = self.desk.boards.pop(self.name, None)
        if before is not None:
            before.fold()
        self.desk.boards[self.name] = self
        self._document = bundle(self._shown())
        self._stage.show((*children, self._line), self._document)
        self._touched()

    def restate(self) -> None:
        """Put the document anew that a viewer without widgets shows: what was to be read at length is there now."""
        if not self._stage.over:
            self._stage.restate(self._as_it_is())

    def fold(self) -> None:
        """Become a document."""
        if self._idle is not None:
            self._idle.cancel()
        if self.desk.boards.get(self.name) is self:
            del self.desk.boards[self.name]
        if not self._stage.over:
            self._stage.settle(self._as_it_is())
        while self._made:  # those that stand nowhere at the moment as well
            dismiss(self._made.pop())

    def _heard(self, deed: Callable[[], None]) -> None:
        """A control changed, on whatever thread; by a person, unless a program is at it."""
        if not self._hushed:
            self._loop.call_soon_threadsafe(deed)

    @property
    def _hushed(self) -> int:
        """How many programs change controls on this thread now, each within another."""
        return getattr(self._hush, "deep", 0)

    def _start(self, deed: Deed) -> None:
        self._touched()
        for asks in self._asks:
            if asks.press != deed:
                asks.forget()
        self._begin(deed)

    def _begin(self, deed: Deed) -> None:
        self._spawn(self._in_turn(deed))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_turn(self, deed: Deed) -> None:
        async with self._turn:
            if not self._stage.over:
                await self._done(deed)

    async def _done(self, deed: Deed) -> None:
        try:
            with readable():
                await deed()
        except HermesError as error:
            self.say(str(error), "bad")
        except Exception as error:  # noqa: BLE001 - the edge of a panel: a person reads it, and goes on
            self.say(f"That did not work: {type(error).__name__}: {brief(str(error), 200)}", "bad")

    def _touched(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if not self._stage.over:
            self._idle = self._loop.call_later(IDLE, self.fold)

    def _as_it_is(self) -> dict[str, str]:
        """The document as things are now; as they were when it was last made, where they cannot be asked."""
        with suppress(Exception):
            self._document = bundle(self._shown())
        return self._document


async def _unheard(_: Any) -> None:
    """It is a person's touch all the same."""


def _label(words: str) -> str:
    return brief(clean(words), LABEL)


def _fill(listing: Any, options: list[tuple[str, Any]], value: Any) -> None:
    with listing.hold_sync():  # a page hears of it once
        listing.options = options
        listing.value = value if any(key == value for _, key in options) else None
