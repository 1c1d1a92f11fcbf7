"""What a piece of code shows while it runs, seen on its way to the cell: streams and displays pass through unchanged,
as far as there is room, and are remembered, but only those of the code itself, never of another task that paints
meanwhile."""

from __future__ import annotations

import base64
import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from hermes_kernel.core.messages import Image
from hermes_kernel.core.text import scrub
from hermes_kernel.world.tools.results import described_image, picture
from hermes_kernel.world.tools.sparing import Room

CHARS = 2_000_000  # of text remembered
PICTURES = 4
MARKUP_CHARS = 20_000  # of a display without plain text; more of it is a program, not words
WRAPPER = re.compile(r"<IPython\.core\.display\.\w+ object>")  # the text of a display that is all markup
TAGS = re.compile(r"<[^>]{0,2000}>")


@dataclass(slots=True)
class Seen:
    """What was shown, in order; ``where`` says so of what only eyes can see."""

    vision: str
    where: str = " shown in the cell"
    pieces: list[str] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    size: int = 0
    room: Room = field(default_factory=Room)

    def write(self, text: str) -> None:
        """Remember words."""
        if self.size < CHARS:
            self.pieces.append(text[: CHARS - self.size])
        self.size += len(text)

    def show(self, bundle: dict[str, Any]) -> None:
        """Remember a MIME bundle: its pictures, and its text or what stands for it."""
        pictured = False
        for mime in ("image/png", "image/jpeg", "image/svg+xml"):
            if mime in bundle and not pictured:
                self._picture(mime, bundle[mime])
                pictured = True
        plain = bundle.get("text/plain")
        if not pictured and isinstance(plain, str) and not WRAPPER.fullmatch(plain):
            self._line(plain)
        elif not pictured:
            marked = next((str(bundle[m]) for m in ("text/markdown", "text/latex", "text/html") if m in bundle), None)
            short = marked is not None and len(marked) <= MARKUP_CHARS
            self._line(TAGS.sub(" ", marked) if marked and short else f"[{', '.join(bundle)}{self.where}]")

    def text(self) -> str:
        """All of it, with a word on what was too much."""
        more = f"\n[{self.size - CHARS:,} more characters are left out]" if self.size > CHARS else ""
        return "".join(self.pieces).rstrip() + more

    def _line(self, text: str) -> None:
        fresh = not self.pieces or self.pieces[-1].endswith("\n")
        self.write(f"{'' if fresh else chr(10)}{text}\n")

    def _picture(self, mime: str, content: Any) -> None:
        raw = content if isinstance(content, bytes) else str(content).encode()
        with contextlib.suppress(ValueError):
            raw = base64.b64decode(raw, validate=True) if isinstance(content, str) and mime != "image/svg+xml" else raw
        if mime != "image/svg+xml" and len(self.images) < PICTURES:
            self.images += picture(mime, base64.b64encode(raw).decode(), self.vision)
        self._line(f"[{described_image(mime, raw)}{self.where}]")


SEEN: ContextVar[Seen | None] = ContextVar("seen", default=None)


class Tap:
    """Stands in for ``inner``. ``done`` when the code it was set for has ended; then nobody needs it any more."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.done = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class StreamTap(Tap):
    """A text stream that remembers what passes."""

    def write(self, text: str) -> int:
        """Pass the text on, remembered. Halves of surrogates, which no stream takes, are replaced."""
        text = fits = scrub(text)
        seen = SEEN.get()
        if seen is not None and not isinstance(self.inner, StreamTap):
            seen.write(text)
            fits = seen.room.words(text)
        written = self.inner.write(fits)
        return written if isinstance(written, int) and fits is text else len(text)

    def writelines(self, lines: Any) -> None:
        """As `write`, line by line."""
        for line in lines:
            self.write(line)


class PublishTap(Tap):
    """A display publisher's ``publish`` that remembers what passes."""

    def __call__(self, data: dict[str, Any], *args: Any, **options: Any) -> Any:
        seen = SEEN.get()
        if seen is not None and not isinstance(self.inner, PublishTap):
            room = Room() if options.get("update") else seen.room  # what replaces another takes no more room
            data = room.rich(data)
            if not options.get("update"):
                seen.show(data)
            data = room.plain(data)
        token = SEEN.set(None)  # a terminal's publisher prints what it shows: that was told already
        try:
            return self.inner(data, *args, **options)
        finally:
            SEEN.reset(token)


class ClearTap(Tap):
    """A display publisher's ``clear_output``, after which there is room again."""

    def __call__(self, *args: Any, **options: Any) -> None:
        seen = SEEN.get()
        if seen is not None:
            seen.room = Room()
        self.inner(*args, **options)


@contextlib.contextmanager
def tapped(owner: Any, name: str, make: Callable[[Any], Tap]) -> Iterator[None]:
    """``owner.name`` behind a tap. Taps may end in any order: each takes away all finished ones on top."""
    tap = make(getattr(owner, name))
    setattr(owner, name, tap)
    try:
        yield
    finally:
        tap.done = True
        while isinstance(top := getattr(owner, name), Tap) and top.done:
            setattr(owner, name, top.inner)


@contextlib.contextmanager
def watching(vision: str, publisher: Any) -> Iterator[Seen]:
    """Remember what this task's code prints and displays. ``publisher`` is IPython's, or None outside it."""
    seen = Seen(vision)
    token = SEEN.set(seen)
    with contextlib.ExitStack() as taps:
        taps.callback(_give_back, sys.stdout, sys.stderr)
        taps.callback(SEEN.reset, token)
        taps.enter_context(tapped(sys, "stdout", StreamTap))
        taps.enter_context(tapped(sys, "stderr", StreamTap))
        if publisher is not None:
            taps.enter_context(tapped(publisher, "publish", PublishTap))
            taps.enter_context(tapped(publisher, "clear_output", ClearTap))
        yield seen


def _give_back(stdout: Any, stderr: Any) -> None:
    """Where code left something that cannot be written to, the stream from before: a kernel flushes both to reply."""
    for name, before in (("stdout", stdout), ("stderr", stderr)):
        now = getattr(sys, name, None)
        if not (callable(getattr(now, "write", None)) and callable(getattr(now, "flush", None))):
            setattr(sys, name, before)
