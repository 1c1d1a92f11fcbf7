"""A summary as its sections, so that it can be cut and added to without losing one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hermes_kernel.core.compression.clipping import clip
from hermes_kernel.core.compression.weight import tokens

GOAL = "Goal and constraints"
DONE = "Done so far"
DECISIONS = "Decisions and why"
STATE = "State now"
QUESTIONS = "Open questions"
LEFT = "What is left"
FACTS = "Facts to keep word for word"
TITLES = (GOAL, DONE, DECISIONS, STATE, QUESTIONS, LEFT, FACTS)

MARK = "## "
GONE = "- …"
LINE = 2_000
"""Characters of the longest line that a section keeps."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, ``""`` for what stands before the first one, and the lines below it."""

    title: str
    lines: tuple[str, ...] = ()


def parsed(text: str) -> tuple[Section, ...]:
    """The sections of a summary, in order. Blank lines are dropped, and a line that its section already has."""
    found: list[tuple[str, dict[str, None]]] = [("", {})]
    for line in map(str.rstrip, text.splitlines()):
        if line.startswith(MARK):
            found.append((line.removeprefix(MARK).strip(" #:*"), {}))
        elif line:
            found[-1][1].setdefault(clip(line, LINE))
    return tuple(Section(title, tuple(lines)) for title, lines in found if title or lines)


def rendered(sections: Iterable[Section]) -> str:
    """The sections as text; those without a line are left out."""
    return "\n\n".join("\n".join([*_heading(s), *s.lines]) for s in sections if s.lines)


def merged(old: Iterable[Section], new: Iterable[Section]) -> tuple[Section, ...]:
    """The lines of `new` behind those of `old` below the same title; a line that is there is not repeated."""
    by_title: dict[str, dict[str, None]] = {}
    for section in (*old, *new):
        by_title.setdefault(section.title, {}).update(dict.fromkeys(section.lines))
    return tuple(Section(title, tuple(lines)) for title, lines in by_title.items())


def within(sections: tuple[Section, ...], most: int) -> str:
    """The sections as text of at most `most` tokens: the longest give lines up first, of each the older ones.

    A section's first line is kept longest, with its newest ones.
    """
    text = rendered(sections)
    share = most
    while tokens(text) > most and share > 0:
        share = share * 3 // 4
        text = rendered(_cut(section, share) for section in sections)
    return text if tokens(text) <= most else ""


def _cut(section: Section, most: int) -> Section:
    costs = [tokens(line) + 1 for line in section.lines]
    if sum(costs) <= most:
        return section
    first = costs[0] if costs[0] <= most // 4 else 0
    room, kept = most - first - tokens(GONE), len(costs)
    while kept > 1 and costs[kept - 1] <= room:
        kept -= 1
        room -= costs[kept]
    lines = (*section.lines[: 1 if first else 0], GONE, *section.lines[kept:])
    return replace(section, lines=lines if len(lines) > 1 else ())


def _heading(section: Section) -> tuple[str, ...]:
    return (MARK + section.title,) if section.title else ()
