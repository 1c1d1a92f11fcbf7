"""A turn told in a terminal: the answer on stdout, what is being done on stderr, and a person who can be asked.

A terminal sees the text as it is written; an answer of which a word is withdrawn is written anew, from its beginning
and on a line of its own, so that it stands there whole. A pipe gets only text that has settled: it takes nothing back.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from typing import Self

from hermes_kernel.core.events import Event, Final, Observed, Returned, TextDelta
from hermes_kernel.core.question import Question
from hermes_kernel.view import WITHDRAWN, Layout, Picture, clean, done_line, see, status_line
from hermes_kernel.view.turn.asking import chosen, written
from hermes_kernel.view.turn.children import told_line
from hermes_kernel.view.turn.rows import row_line

WIPE = "\r\x1b[K"


def at_terminal() -> bool:
    """Somebody sits at stdin and sees stderr. Not on Windows, where no event loop can watch a console."""
    return os.name == "posix" and sys.stdin.isatty() and sys.stderr.isatty()


class Paper:
    """Folds the events of one turn onto a terminal or into a pipe."""

    def __init__(self, blank: Picture, *, answer: bool, doing: bool) -> None:
        self._picture = blank
        self._out = sys.stdout
        self._answer = answer
        self._doing = doing and sys.stderr.isatty()
        self._live = answer and self._out.isatty()
        self._said = ""
        self._shown = ""
        self._fresh = True  # the cursor stands at the beginning of a line

    def see(self, event: Event) -> None:
        """Show what has come of `event`."""
        before, self._picture = self._picture, see(self._picture, event)
        if self._live and isinstance(event, TextDelta):
            self._write(clean(event.text))
            return
        if self._standing(before) is not self._standing(self._picture):
            self._settle(before)
        match event:
            case Observed(call_id):
                self._tell(next((row_line(r, timed=True) for r in self._picture.rows if r.call_id == call_id), ""))
            case Returned(lease):
                self._tell(next((f"    {told_line(c)}" for c in self._picture.children if c.lease == lease), ""))
            case Final():
                self._tell(f"[{done_line(self._picture)}]")
            case _:
                self._status()

    def end(self) -> None:
        """Leave the terminal as a prompt likes to find it."""
        self._status(clear=True)
        if self._answer and not self._fresh:
            print(file=self._out, flush=True)
            self._fresh = True

    def _standing(self, picture: Picture) -> Layout:
        """What is to be shown of the text. The answer at hand can be withdrawn until the turn is over."""
        return picture.layout if self._live or picture.final else picture.opening

    def _settle(self, before: Picture) -> None:
        """Go on to what stands now. Where other words were shown, the whole answer is written anew: of the text
        `before`, what comes ahead of it stands whatever becomes of it."""
        text = clean(self._standing(self._picture).text)
        same = _same(self._said, text)
        if self._said[same:].strip():  # white space at the end of a reply is no word
            same = len(clean(before.opening.text))
            self._break()
        if self._answer:
            self._write(text[same:])
        self._said = text

    def _break(self) -> None:
        """What stands above is withdrawn."""
        self._tell(WITHDRAWN)
        if not self._fresh:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not text:
            return
        self._status(clear=True)
        self._out.write(text)
        self._out.flush()
        self._fresh = text.endswith("\n")
        if self._live:
            self._said += text

    def _tell(self, line: str) -> None:
        if self._doing and line:
            self._status(clear=True)
            sys.stderr.write(f"{'' if self._fresh else chr(10)}{line}\n")
            sys.stderr.flush()
            self._fresh = True

    def _status(self, *, clear: bool = False) -> None:
        """What is going on, at the foot of what has been told. Subagents have many events that change nothing here."""
        words = "" if clear else clean(status_line(self._picture))[: shutil.get_terminal_size().columns - 1]
        if self._doing and self._fresh and words != self._shown:
            self._shown = words
            sys.stderr.write(f"{WIPE}{words}")
            sys.stderr.flush()


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


class Foot:
    """One line at the foot of a terminal, written anew each time; nothing where stderr is none."""

    def __init__(self) -> None:
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.say("")

    def say(self, line: str) -> None:
        """What stands there from now on."""
        words = clean(line)[: shutil.get_terminal_size().columns - 1]
        if words != self._shown and sys.stderr.isatty():
            self._shown = words
            sys.stderr.write(f"{WIPE}{words}")
            sys.stderr.flush()


class Terminal:
    """`ports.Person` at a terminal."""

    present = True

    async def ask(self, question: Question) -> str | None:
        print(f"{WIPE}{written(question)}", file=sys.stderr)
        _forget_typed_ahead()
        print("> ", end="", file=sys.stderr, flush=True)
        try:
            said = await _line()
        except asyncio.CancelledError:
            print(file=sys.stderr)
            _forget_typed_ahead()  # half an answer is no command for the shell
            raise
        return None if said is None else chosen(question, said)


def _forget_typed_ahead() -> None:
    """What was typed before the question was seen is no answer to it."""
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def _line() -> str | None:
    """One line from the terminal, or None at its end; the event loop runs meanwhile, and giving up leaves no thread."""
    loop, source = asyncio.get_running_loop(), sys.stdin.fileno()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(source, wake)
    try:
        await ready
    finally:
        loop.remove_reader(source)
    return os.read(source, 65_536).decode("utf-8", "replace").strip() or None
