"""A recording that is answered from."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from hermes_kernel.core.figures import counted
from hermes_kernel.core.recording.cassette import Called, Cassette, Exchange, Request
from hermes_kernel.core.recording.finding import Answers, Miss
from hermes_kernel.core.recording.reading import Unreadable, read
from hermes_kernel.core.recording.windows import windows_of
from hermes_kernel.core.text import brief
from hermes_kernel.core.windows import Window, plausible
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.store.disk import content

MOST = 500_000_000  # bytes
PLAYED: dict[str, Any] = {"model": "", "base_url": "", "fallback_models": (), "aux_model": "", "context_window": 0}
"""The settings that a recording decides, and what they are where it does not say."""

_NAME = 200  # characters of a file's name that are shown
_CUT_OFF = "The end of {} was cut off when it was recorded: what was whole is answered from."


class Player:
    """What the file at ``path`` holds, and how far its answers were given. Safe from any thread.

    Raises:
        SettingsError: there is no such file, or it is no recording; the text names it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp = stamp(path)
        self.cassette = _loaded(path)
        self.missed: str | None = None
        self._used: set[int] = set()
        self._answers = Answers(self.cassette)
        self._windows = windows_of(self.cassette.head)
        self._calls = {(called.name, called.arguments) for called in self.cassette.calls}
        self._lock = threading.Lock()
        self._news = [_CUT_OFF.format(_shown(path))] if self.cassette.torn else []

    @property
    def settings(self) -> dict[str, Any]:
        """Those it was recorded with, as far as they decide who is asked."""
        return {name: self.cassette.head.settings.get(name, usual) for name, usual in PLAYED.items()}

    def unused(self, *, calls: bool) -> tuple[str, ...]:
        """How many exchanges, and perhaps calls, nobody asked for yet."""
        left = {"exchange": self.cassette.exchanges, "call": self.cassette.calls if calls else ()}
        numbers = {word: sum(id(one) not in self._used for one in held) for word, held in left.items()}
        return tuple(counted(number, word) for word, number in numbers.items() if number)

    def find(self, request: Request) -> Exchange | Miss:
        """The answer to `request`, or what is different."""
        with self._lock:
            found = self._answers.find(request)
            if isinstance(found, Miss):
                self.missed = found.diff()
            else:
                self._used.add(id(found))
            return found

    def call(self, asked: Called) -> Called | None:
        """The result of a call, as it is found by."""
        with self._lock:
            if (found := self._answers.call(asked)) is not None:
                self._used.add(id(found))
            return found

    def knows(self, name: str, arguments: str) -> bool:
        """Whether a call has its result here."""
        return (name, arguments) in self._calls

    def window(self, name: str) -> Window | None:
        """What a server said of its model."""
        tokens = plausible(self._windows.get(name))
        return Window(tokens, source="models") if tokens else None

    def news(self) -> tuple[str, ...]:
        """What a person should know since the last time."""
        with self._lock:
            told, self._news = tuple(self._news), []
            return told


def stamp(path: Path) -> tuple[int, ...]:
    """Other than before when the file is another one; nothing where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _loaded(path: Path) -> Cassette:
    try:
        held = content(path, MOST)
        cassette = read(held)
        if held.strip() and not cassette.head.version and cassette.torn:
            raise Unreadable(1, "no cassette begins here")  # noqa: TRY301 - one way of saying it
    except FileNotFoundError:
        raise SettingsError(
            f"There is no recording {_shown(path)}: record one with `%%hermes --record FILE`, or leave out replay."
        ) from None
    except OSError as error:
        raise SettingsError(f"The recording {_shown(path)} cannot be read: {error.strerror}.") from None
    except Unreadable as error:
        raise SettingsError(f"{_shown(path)} is no recording, by its line {error.line}: {error.why}.") from None
    return cassette


def _shown(path: Path) -> str:
    return brief(str(path), _NAME)
