"""What is seen of work that is no turn: many rows being asked, a conversation being made shorter or looked back at.
Pure.

The plain form holds nothing that differs from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hermes_kernel.core.events import Compressed
from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import NO_MATH, clean, escape
from hermes_kernel.core.text import dotted
from hermes_kernel.view.look import FRAME, TONES, TRENCH
from hermes_kernel.view.markup import status, typed
from hermes_kernel.view.turn.present import heard_html, seen_html
from hermes_kernel.view.turn.words import Status, lasting, shortened

WIDTH = f"max-width:32em;height:0.5em;border-radius:0.25em;overflow:hidden;{TRENCH}"
KEPT = "forced-color-adjust:none"  # a colour that is the only thing to be seen of a bar
SHORTENING = Status("compressing the conversation", ticks=True)
SOON = 3  # rows after which the pace of the rest may be guessed
READ = "`%hermes show summary` reads the summary, `%hermes show all` the whole conversation"


class Sight(Protocol):
    """One moment of such work."""

    def spoken(self) -> str:
        """As it is read out: without what changes each second."""
        ...

    def html(self, seconds: float) -> str:
        """As HTML, so many seconds after it began."""
        ...

    def plain(self) -> str:
        """As text, once it is over."""
        ...


@dataclass(frozen=True, slots=True)
class Bar:
    """``done`` of ``of`` rows have an outcome, ``failed`` of them no answer; ``kept`` of them were answered in an
    earlier run. ``ended`` is how it ended, and empty while it goes on; ``note`` is why rows were left out."""

    of: int
    done: int = 0
    failed: int = 0
    kept: int = 0
    calls: int = 0
    ended: str = ""
    note: str = ""

    def html(self, seconds: float) -> str:
        share = 100 * self.done / self.of if self.of else 100.0
        filled = f'<div style="width:{share:.1f}%;height:100%;background:{TONES["busy"]};{KEPT}"></div>'
        told = f'aria-label="rows" aria-valuemin="0" aria-valuemax="{self.of}" aria-valuenow="{self.done}"'
        bar = "" if self.ended else f'<div role="progressbar" {told} style="{WIDTH}">{filled}</div>'
        line = _heard(self.plain()) if self.ended else seen_html(self.line(seconds)) + heard_html(self.spoken())
        return _frame(bar + line, "hermes-progress")

    def spoken(self) -> str:
        if self.ended:
            return self.plain()
        tenths = 10 * self.done // self.of if self.of else 10
        return f"{10 * tenths} % of {counted(self.of, 'row')}"

    def plain(self) -> str:
        return clean(dotted(self.ended or "not finished", *self._counts(), counted(self.calls, "call"), self.note))

    def line(self, seconds: float) -> str:
        """As one line, so many seconds after it began."""
        if self.ended:
            return self.plain()
        return dotted(*self._counts(), self._left(seconds))

    def _counts(self) -> list[str]:
        told = [f"{self.done:,} of {counted(self.of, 'row')}"]
        told += [f"{self.kept:,} of them from before"] if self.kept else []
        return [*told, *([f"{self.failed:,} without an answer"] if self.failed else [])]

    def _left(self, seconds: float) -> str:
        """How long the rest may take, at the pace of this run; nothing while that is a guess."""
        asked = self.done - self.kept
        if asked < SOON or self.done >= self.of:
            return ""
        left = seconds / asked * (self.of - self.done)
        return f"about {left / 60:.0f} min left" if left >= 90 else f"about {left:.0f} s left"


@dataclass(frozen=True, slots=True)
class Shortening:
    """A compression that a person asked for: ``words`` say where it is, ``ended`` is what came of it."""

    words: str = ""
    ended: Compressed | None = None

    def html(self, seconds: float) -> str:
        if self.ended:
            words, figures = shortened(self.ended)
            gained = f": {figures}" if self.ended.after < self.ended.before else ""
            return _frame(_heard(f"{self._result(words)}{gained}"))
        at = lasting(SHORTENING, seconds)
        words = dotted(at, self.words)
        return _frame(seen_html(words, "busy") + heard_html(self.spoken()))

    def spoken(self) -> str:
        return self.plain() if self.ended else SHORTENING.words

    def plain(self) -> str:
        if self.ended is None:
            return "the conversation was not compressed"
        words = self._result(shortened(self.ended)[0])
        return f"{words}; {READ}" if self.ended.after < self.ended.before else words

    def _result(self, words: str) -> str:
        if self.ended and self.ended.after >= self.ended.before:
            why = f" ({clean(self.ended.note)})" if self.ended.note else ""
            return f"nothing was to be gained, and the conversation is as it was{why}"
        return clean(words)


@dataclass(frozen=True, slots=True)
class Looking:
    """A look back that a person asked for: for ``what``, and in ``ended`` what came of it, line by line."""

    what: str
    ended: tuple[str, ...] = ()

    def html(self, seconds: float) -> str:
        if self.ended:
            return _frame("".join(_heard(line) for line in self.ended))
        at = lasting(Status(self.spoken(), ticks=True), seconds)
        return _frame(seen_html(at, "busy") + heard_html(self.spoken()))

    def spoken(self) -> str:
        return self.plain() if self.ended else f"looking for {self.what}"

    def plain(self) -> str:
        return "\n".join(map(clean, self.ended)) or "nothing came of the look"


def _heard(text: str) -> str:
    return status(typed(escape(text)))


def _frame(inside: str, name: str = "hermes-sight") -> str:
    return f'<div class="{name} {NO_MATH}" style="{FRAME}">{inside}</div>'
