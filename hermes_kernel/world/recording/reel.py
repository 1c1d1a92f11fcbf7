"""What this process records in a file: whole exchanges and calls, in their order. What cannot be written is told once,
and the work that was to be recorded goes on. How the file is held and written is `held`'s."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes_kernel.core.recording.cassette import Called, Cassette, Exchange, Head
from hermes_kernel.core.recording.lines import Known, called_lines, exchange_lines, head_lines
from hermes_kernel.core.recording.windows import with_windows
from hermes_kernel.core.text import brief
from hermes_kernel.world.recording.held import HeldFile, NotOursError
from hermes_kernel.world.store.locks import forget_in_child

_NAME = 200  # characters of a file's name that are shown


class Reel:
    """The file at ``path``. The first that is kept replaces what it held, unless that is gone on with; what follows is
    added. Safe from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = HeldFile(path)
        self.exchanges = self.calls = 0
        self._head: Callable[[], Head] = Head
        self._before = Cassette()
        self._windows: dict[str, int] = {}
        self._known = Known()
        self._lock = threading.RLock()
        self._begun = False
        self._written: Head | None = None
        self._silent = False
        self._news: list[str] = []
        forget_in_child(self)

    @property
    def begun(self) -> bool:
        """Whether this process has recorded in it."""
        return self._begun

    def take_up(self, head: Callable[[], Head], before: Cassette | None) -> None:
        """For whoever records next: `head` says with what settings, `before` is what is gone on with, None: nothing.
        Trouble of earlier on is forgotten."""
        with self._lock:
            self._silent = False
            if self._begun and not self._file.is_as_left:
                self._end()
            if not self._begun:
                self._written = None
                self._head, self._before = head, before or Cassette()
                self.exchanges, self.calls = len(self._before.exchanges), len(self._before.calls)

    def keep(self, exchange: Exchange) -> None:
        """Record `exchange`, which has no secrets any more."""
        with self._lock:
            if self._write(lambda: exchange_lines(exchange, self._known)):
                self.exchanges += 1

    def keep_call(self, called: Called) -> None:
        """Record a call, which has no secrets any more."""
        with self._lock:
            if self._write(lambda: called_lines(called)):
                self.calls += 1

    def keep_window(self, name: str, tokens: int) -> None:
        """Record what a server says of how much its model reads. It belongs to the head, which may be there already."""
        with self._lock:
            if self._windows.get(name) == tokens:
                return
            self._windows[name] = tokens
            if self._begun and not self._silent:
                with suppress(OSError):
                    self._take_hold()
                    _, _, rest = self.path.read_bytes().partition(b"\n")
                    self._file.replace(self._headline() + rest)

    def news(self) -> tuple[str, ...]:
        """What a person should know since the last time."""
        with self._lock:
            told, self._news = tuple(self._news), []
            return told

    def let_go(self) -> None:
        """Others may record in it. It is gone on with where it is found as it was left."""
        with self._lock:
            self._file.let_go()

    def forget(self) -> None:
        """In a forked child: what the parent records is not the child's."""
        self._lock = threading.RLock()
        self._end()

    # --- the file

    def _end(self) -> None:
        """What was recorded is not gone on with."""
        self._file.forget()
        self._begun, self._known, self._before = False, Known(), Cassette()
        self._written = None
        self.exchanges = self.calls = 0

    def _write(self, lines: Callable[[], str]) -> bool:
        """Whether `lines` are in the file now."""
        if self._silent:
            return False
        try:
            if self._take_hold():
                self._file.add(lines().encode())
            else:
                self._begin(lines)
        except OSError as error:
            self._give_up(error)
            return False
        return True

    def _take_hold(self) -> bool:
        """Whether the file is held and is the one that was begun; one that was removed is begun anew."""
        if not self._begun:
            return False
        there = self._file.take_hold()
        if not there:
            self._end()
        return there

    def _begin(self, lines: Callable[[], str]) -> None:
        known, self._known = self._known, Known()
        try:
            told = [exchange_lines(exchange, self._known) for exchange in self._before.exchanges]
            told += [called_lines(called) for called in self._before.calls]
            self._file.begin(self._headline() + "".join([*told, lines()]).encode())
        except OSError:
            self._known = known
            raise
        self._begun, self._before = True, Cassette()

    def _headline(self) -> bytes:
        head = self._written or (self._before.head if self._before.head.settings else self._head())
        self._written = with_windows(head, self._windows)
        return head_lines(self._written).encode()

    def _give_up(self, error: OSError) -> None:
        self._silent = True
        why = error.strerror or str(error)
        kept = ", what was is kept" if self._begun and not isinstance(error, NotOursError) else ""
        self._news.append(f"Not recorded in {brief(str(self.path), _NAME)} from here on{kept}: {why}.")
