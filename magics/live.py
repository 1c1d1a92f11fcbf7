"""The *live* painter: a heading that is updated, and the answer below it. At most ten paintings a second; finished
blocks are sent once, and the open tail again only within a share of the reply's size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

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
from hermes_kernel.view import Picture, Status, clean, heading_html, heading_plain, sanitise, see
from hermes_kernel.view.children import descendants
from magics.stage import Spot
from magics.stopping import Controls

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

PAUSE = 0.1  # seconds between two paintings at least
LINGER = 0.4  # seconds after which a turn is slow enough for a status line and a Stop button
ALLOWANCE = 16_000  # characters of the open tail that may be sent again, whatever the reply's size …
SHARE = 0.7  # … and beyond that, per character of the reply


class Live:
    """A heading that is updated, and the answer below it: finished blocks once, the open tail again and again."""

    def __init__(self, shell: InteractiveShell, limit: int, press: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._picture = Picture(limit)
        self._heading = Heading(shell, press)
        self._answer = Answer(shell)
        self._painted = self._loop.time()
        self._since = Since(self._loop.time)
        self._due: asyncio.TimerHandle | None = None
        self._ticker = asyncio.ensure_future(self._tick())

    def show(self, event: Event) -> None:
        self._picture = see(self._picture, event)
        if isinstance(event, Subagent) and not isinstance(event.event, Asking):
            if not isinstance(event.event, TextDelta | ThoughtDelta | CallDelta):
                self._since.told(self._picture)
            return  # what subagents are at is painted once a second
        if _ahead_of_output(self._picture, event):
            self._heading.appear()
        if isinstance(event, Replied) or _ahead_of_output(self._picture, event):
            self._paint()
        elif self._due is None:
            wait = max(PAUSE - (self._loop.time() - self._painted), 0.0)
            self._due = self._loop.call_later(wait, self._paint)

    def close(self) -> None:
        self._ticker.cancel()
        if self._picture.final is None and self._answer.blank and not self._heading.shown:
            self._cancel()
            return
        if self._picture.final is None:
            self._picture = see(self._picture, Final(Outcome.FAILED, ""))
        self._heading.appear()
        self._paint()
        self._answer.finish(self._picture)
        self._heading.finish(self._picture)

    def _paint(self) -> None:
        self._cancel()
        self._painted = self._loop.time()
        if self._heading.shown or self._picture.text:
            self._heading.paint(self._html())
        self._answer.paint(self._picture)

    def _cancel(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    async def _tick(self) -> None:
        """Seconds go on where no event comes; after a moment there is something to press."""
        await asyncio.sleep(LINGER)
        self._heading.appear()
        self._paint()
        await self._heading.offer_stop()
        while True:
            await asyncio.sleep(1.0)
            self._heading.paint(self._html())

    def _html(self) -> str:
        since = self._since.told(self._picture)
        return heading_html(self._picture, since.pop(""), since)


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


def _ahead_of_output(picture: Picture, event: Event) -> bool:
    """A tool is about to show something below, or to keep the loop, and then nothing is painted until it ends."""
    match event:
        case Replied():
            return bool(event.calls)
        case Started(call_id):
            return any(row.call_id == call_id and row.name == "python" for row in picture.rows)
    return False


class Heading:
    """The line above the answer, with a Stop button while there is something to stop."""

    def __init__(self, shell: InteractiveShell, press: Callable[[], None]) -> None:
        self._spot = Spot(shell)
        self._press = press
        self._controls: Controls | None = None
        self._html = ""
        self._wanted = False

    @property
    def shown(self) -> bool:
        return self._wanted

    def appear(self) -> None:
        self._wanted = True

    async def offer_stop(self) -> None:
        """Controls in place of the plain line, once the widgets are imported; without them the line stays."""
        controls = await Controls.make(self._html, self._press)
        if controls is not None:
            self._controls = controls
            controls.say(self._html)  # which may have changed while they were made
            self._spot.put(controls.bundle())

    def paint(self, html: str) -> None:
        self._wanted = True
        if html == self._html:
            return
        self._html = html
        if self._controls is not None:
            self._controls.say(html)
        else:
            self._spot.put({"text/html": html, "text/plain": ""})

    def finish(self, picture: Picture) -> None:
        """What stays in the notebook: no widget, no button."""
        self._spot.put({"text/html": heading_html(picture), "text/plain": heading_plain(picture)})
        if self._controls is not None:
            self._controls.close()


class Answer:
    """The text below the heading. Knows what it has sent, so that it sends no more than a share of the reply again."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._blocks: tuple[str, ...] = ()
        self._spots: list[tuple[int, Spot]] = []
        self._open: Spot | None = None
        self._tail = ""
        self._again = 0

    @property
    def blank(self) -> bool:
        return not self._spots and self._open is None

    def paint(self, picture: Picture) -> None:
        self._settle(picture)
        tail = picture.tail
        if tail == self._tail or not tail.strip():
            return
        size = sum(map(len, picture.blocks)) + len(tail)
        if self._again + len(tail) <= ALLOWANCE + SHARE * size:
            self._again += len(tail)
            self._show_tail(tail)

    def finish(self, picture: Picture) -> None:
        """Everything as it stays, whatever was left out so far."""
        self._settle(picture)
        if picture.tail.strip():
            self._open = self._open or Spot(self._shell)
            self._open.put(_markdown(picture.tail))
        elif not picture.tail.strip() and self._open is not None:
            self._open.put(_markdown(""))

    def _settle(self, picture: Picture) -> None:
        """Blocks that are finished since the last time, in one piece; what was withdrawn is taken back first."""
        if picture.blocks[: len(self._blocks)] != self._blocks:
            self._withdraw(picture.blocks)
        new = "".join(picture.blocks[len(self._blocks) :])
        if not new:
            return
        spot = self._open or Spot(self._shell)
        spot.put(_markdown(new))
        self._blocks = picture.blocks
        self._spots.append((len(self._blocks), spot))
        self._open, self._tail = None, ""

    def _withdraw(self, blocks: tuple[str, ...]) -> None:
        """Empty every spot that holds a block which is no more, from the first such on."""
        same = next((n for n, (a, b) in enumerate(zip(self._blocks, blocks, strict=False)) if a != b), len(blocks))
        while self._spots and self._spots[-1][0] > same:
            self._spots.pop()[1].put(_markdown(""))
        self._blocks = blocks[: self._spots[-1][0] if self._spots else 0]
        if self._open is not None:
            self._open.put(_markdown(""))
        self._open, self._tail = None, ""

    def _show_tail(self, tail: str) -> None:
        self._open = self._open or Spot(self._shell)
        self._open.put({"text/markdown": sanitise(tail).strip("\n")})
        self._tail = tail


def _markdown(text: str) -> dict[str, object]:
    return {"text/markdown": sanitise(text).strip("\n"), "text/plain": clean(text).strip("\n")}
