"""What the calls of one reply print and display, in the order of the calls, though they run at once: the first that
goes on is heard as it speaks, another one when those before it have ended. Knows neither tools nor kernels."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar, copy_context
from functools import partial
from threading import RLock
from typing import Any

from hermes_kernel.world.tools.capture import Tap, tapped

Piece = Callable[[], object]
"""Shows something."""


class Voice:
    """That of one call. What it shows is kept until it is heard, from any thread."""

    def __init__(self, told: Callable[[str], str]) -> None:
        self.told = told
        self.ended = False
        self._kept: list[Piece] | None = []
        self._lock = RLock()
        self._context = copy_context()  # in which there is no such voice, or that of a call around this one

    def show(self, piece: Piece) -> None:
        """Now, if it is heard."""
        with self._lock:
            if self._kept is not None:
                self._kept.append(piece)
                return
        self._context.copy().run(piece)

    def is_heard(self) -> None:
        """From here on, beginning with what was kept."""
        with self._lock:
            for piece in self._kept or ():
                with contextlib.suppress(OSError, ValueError):  # nobody hears any more
                    self._context.copy().run(piece)
            self._kept = None


VOICE: ContextVar[Voice | None] = ContextVar("voice", default=None)


class Voices:
    """Those of `calls` calls. `told` is how a text is told anywhere."""

    def __init__(self, calls: int, told: Callable[[str], str]) -> None:
        self._voices = [Voice(told) for _ in range(calls)]

    @contextlib.contextmanager
    def in_order(self, publisher: Any) -> Iterator[None]:
        """While it lasts, they are. ``publisher`` is IPython's, or None outside it."""
        with contextlib.ExitStack() as taps:
            taps.enter_context(tapped(sys, "stdout", HeldStream))
            taps.enter_context(tapped(sys, "stderr", HeldStream))
            if publisher is not None:
                taps.enter_context(tapped(publisher, "publish", HeldPublish))
            self._go_on()
            try:
                yield
            finally:
                for voice in self._voices:
                    voice.is_heard()

    def begins(self, at: int) -> None:
        """The task that calls this is the call at that place."""
        VOICE.set(self._voices[at])

    def ends(self, at: int) -> None:
        """Nothing more is waited for from it."""
        self._voices[at].ended = True
        self._go_on()

    def _go_on(self) -> None:
        for voice in self._voices:
            voice.is_heard()
            if not voice.ended:
                return


class HeldStream(Tap):
    """A text stream that leaves it to the voice of a call when its words are heard."""

    def write(self, text: str) -> int:
        """As that of a stream."""
        voice = VOICE.get()
        if voice is None or not isinstance(text, str):
            return int(self.inner.write(text) or 0)
        voice.show(partial(self.inner.write, voice.told(text)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """As `write`, line by line."""
        for line in lines:
            self.write(line)


class HeldPublish(Tap):
    """The same for a display publisher's ``publish``."""

    def __call__(self, data: Mapping[str, Any], *args: Any, **options: Any) -> None:
        voice = VOICE.get()
        if voice is None:
            self.inner(data, *args, **options)
            return
        told = {mime: voice.told(said) if _is_words(mime, said) else said for mime, said in data.items()}
        voice.show(partial(self.inner, told, *args, **options))


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """While it lasts, what this task shows is heard: a person is to answer it."""
    token = VOICE.set(None)
    try:
        yield
    finally:
        VOICE.reset(token)


def _is_words(mime: str, said: object) -> bool:
    return mime.startswith("text/") and isinstance(said, str)
