"""What took time, as values: marks within spans, spans within turns. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

NAME, NOTE = 60, 90  # characters


@dataclass(frozen=True, slots=True)
class Mark:
    """What some of the time went on: one of the names in `waterfall.WHAT`. Seconds are counted as those of its span."""

    what: str
    began: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time, in its own words: ``what`` as in `Mark`, with ``marks`` where the time went on several
    things. It began so many seconds after what all of them are counted from; ``depth`` says below what it stands."""

    what: str
    name: str
    began: float
    seconds: float
    note: str = ""
    depth: int = 0
    marks: tuple[Mark, ...] = ()
    lease: str = ""

    @property
    def ended(self) -> float:
        """When it was over."""
        return self.began + self.seconds

    @property
    def shown(self) -> tuple[Mark, ...]:
        """What there is to draw of it."""
        return self.marks or (Mark(self.what, self.began, self.seconds),)

    def later(self, seconds: float, depth: int = 0) -> Span:
        """The same, counted from so many seconds before, and further in."""
        marks = tuple(Mark(mark.what, mark.began + seconds, mark.seconds) for mark in self.marks)
        return replace(self, began=self.began + seconds, marks=marks, depth=self.depth + depth)


@dataclass(frozen=True, slots=True)
class Play:
    """One turn as it was played; times are in seconds since 1970. ``number`` is 0 where it was taken back."""

    number: int
    prompt: str
    began: float
    ended: float
    spans: tuple[Span, ...]
    outcome: str = ""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max(self.ended - self.began, 0.0)
