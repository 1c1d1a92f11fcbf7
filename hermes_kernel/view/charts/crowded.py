"""Turns as one timeline of as many rows as a person reads: each thing by itself, else each turn, else several at once.

The time between two turns, in which nobody worked, is left out. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.charts.spans import NAME, NOTE, Mark, Play, Span
from hermes_kernel.view.charts.waterfall import Timeline, seconds

ROWS = 48
TITLE = 120  # characters
FINE = 80  # bars next to each other in the width of a picture that can be told apart
NAMES = {"text": "call", "failed": "failed call", "tool": "tool", "pause": "wait", "agent": "subagent"}
NAMES |= {"compress": "compression", "person": "question"}


def timeline(played: Sequence[Play], title: str, about: str = "") -> Timeline:
    """The turns one after the other. Where that is too much, less of each is shown, and a note says so."""
    note = "Time between turns is left out." if len(played) > 1 else ""
    for rows, said in ((_each(played), ""), (_each(played, inner=False), "Subagents are one row each.")):
        if len(rows) <= ROWS:
            return Timeline(title, rows, _both(note, said if len(rows) < len(_each(played)) else ""), about)
    if len(played) == 1:
        parts = _parts(_each(played, inner=False))
        return Timeline(title, parts, _both(note, f"{len(played[0].spans):,} steps, several in a row."), about)
    turns = _turns(played)
    if len(turns) <= ROWS:
        return Timeline(title, turns, _both(note, "One turn is a row; `turn N` shows what was in it."), about)
    said = f"{len(turns):,} turns, several in a row; `turn N` shows one."
    return Timeline(title, _parts(turns), _both(note, said), about)


def of_one(play: Play) -> Timeline:
    """A turn by itself."""
    return timeline((play,), brief(_called(play), TITLE), about(play))


def about(play: Play) -> str:
    """A turn in figures: how long, how it ended, and of what it was made."""
    return dotted(seconds(play.seconds), play.outcome, made_of(play.spans))


def made_of(spans: Iterable[Span]) -> str:
    """How many there are of what: ``3 calls, 2 tools``."""
    counts = Counter(span.what for span in spans if not span.depth)
    return ", ".join(counted(counts[what], name) for what, name in NAMES.items() if counts[what])


def _each(played: Sequence[Play], *, inner: bool = True) -> tuple[Span, ...]:
    """Every span, below the head of its turn where there are several."""
    rows: list[Span] = []
    many, at = len(played) > 1, 0.0
    for play in played:
        rows += [_head(play, at)] if many else []
        shift = at - play.began
        rows += [span.later(shift, int(many)) for span in play.spans if inner or not span.depth]
        at += play.seconds
    return tuple(rows)


def _head(play: Play, at: float) -> Span:
    return Span("turn", brief(_called(play), NAME), at, play.seconds, play.outcome)


def _called(play: Play) -> str:
    return f"turn {play.number}: {play.prompt}" if play.number else f"taken back: {play.prompt}"


def _turns(played: Sequence[Play]) -> tuple[Span, ...]:
    """One row for each turn, with all that was in it."""
    rows, at = [], 0.0
    for play in played:
        head, shift = _head(play, at), at - play.began
        marks = tuple(mark for span in play.spans for mark in span.later(shift).shown)
        note = dotted(play.outcome, made_of(play.spans))
        rows.append(Span("turn", head.name, at, play.seconds, brief(note, NOTE), marks=(head.shown[0], *marks)))
        at += play.seconds
    return _blurred(rows)


def _parts(rows: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbours together, so many that there are few rows."""
    size = -(-len(rows) // (ROWS // 2))
    groups = [rows[n : n + size] for n in range(0, len(rows), size)]
    return _blurred([_part(group, n * size + 1) for n, group in enumerate(groups)])


def _part(group: Sequence[Span], first: int) -> Span:
    began, ended = min(span.began for span in group), max(span.ended for span in group)
    what = "turns" if group[0].what == "turn" else "steps"
    name = f"{what} {first:,} to {first + len(group) - 1:,}"
    marks = tuple(mark for span in group for mark in span.shown)
    note = "" if what == "turns" else made_of(group)
    return Span("turn", name, began, ended - began, note, marks=(Mark("turn", began, ended - began), *marks))


def _blurred(rows: Sequence[Span]) -> tuple[Span, ...]:
    """The same, of marks only what can be told apart."""
    least = max((row.ended for row in rows), default=0.0) / FINE
    return tuple(
        Span(row.what, row.name, row.began, row.seconds, row.note, row.depth, _merged(row.marks, least)) for row in rows
    )


def _merged(marks: Iterable[Mark], least: float) -> tuple[Mark, ...]:
    """Marks of a kind that lie closer than `least` as one."""
    merged: list[Mark] = []
    for _, group in groupby(sorted(marks, key=lambda mark: (mark.what, mark.began)), key=lambda mark: mark.what):
        run: list[Mark] = []
        for mark in group:
            if run and mark.began - (run[-1].began + run[-1].seconds) < least:
                last = run[-1]
                ended = max(last.began + last.seconds, mark.began + mark.seconds)
                run[-1] = Mark(last.what, last.began, ended - last.began)
            else:
                run.append(mark)
        merged += run
    return tuple(merged)


def _both(*notes: str) -> str:
    return " ".join(note for note in notes if note)
