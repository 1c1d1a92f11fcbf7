"""A summary as its sections, so that it can be cut and added to without losing one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hermes_kernel.core.compression.clipping import clip
from hermes_kernel.core.compression.weight import tokens
from hermes_kernel.core.text import brief

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
LONGEST, LINE, REPEATED = 100_000, 2_000, 12
"""Characters of a summary that are looked at, of the longest line that a section keeps, and of the shortest that is not
kept twice: a small model may repeat itself without end, while code has lines with nothing but a bracket."""

ORDER = {title: n for n, title in enumerate(("", *TITLES))}
_KNOWN = {title.casefold(): title for title in TITLES}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, ``""`` for what stands before the first one, and the lines below it."""

    title: str
    lines: tuple[str, ...] = ()


def parsed(text: str) -> tuple[Section, ...]:
    """The sections of a summary that have lines, in order, each once, without blank and repeated lines."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    title = ""
    for line in map(str.rstrip, clip(text, LONGEST).splitlines()):
        if heading := _title(line):
            title = heading
        elif line and not (line in seen and len(line) >= REPEATED):
            found.setdefault(title, []).append(clip(line, LINE))
            seen.add(line)
    return tuple(Section(title, tuple(lines)) for title, lines in found.items())


def rendered(sections: Iterable[Section]) -> str:
    """The sections as text; those without a line are left out."""
    return "\n\n".join("\n".join((*([MARK + s.title] if s.title else []), *s.lines)) for s in sections if s.lines)


def merged(old: Iterable[Section], new: Iterable[Section]) -> tuple[Section, ...]:
    """The lines of `new` behind those of `old` below the same title, in the order of the template. A line that both
    have is new."""
    by_title: dict[str, dict[str, None]] = {}
    for section in (*old, *new):
        lines = by_title.setdefault(section.title, {})
        for line in section.lines:
            lines.pop(line, None)
            lines[line] = None
    sections = (Section(title, tuple(lines)) for title, lines in by_title.items())
    return tuple(sorted(sections, key=lambda s: ORDER.get(s.title, len(ORDER))))


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
    first = 1 if costs[0] <= most // 4 else 0
    room, kept = most - first * costs[0] - tokens(GONE), len(costs)
    while kept > first and costs[kept - 1] <= room:
        kept -= 1
        room -= costs[kept]
    newest = section.lines[kept:] or tuple(filter(None, [_fitted(section.lines[-1], room)]))
    return replace(section, lines=(*section.lines[:first], GONE, *newest) if newest else ())


def _fitted(line: str, most: int) -> str:
    """As much of one line as `most` tokens hold, or ``""``."""
    shorter = (brief(line, characters) for characters in (4 * most, 2 * most, most, most // 2))
    return next((text for text in shorter if text != "…" and tokens(text) < most), "")


def _title(line: str) -> str:
    """The title that a line is, or ``""``: what stands behind ``## ``, and a known one however it is set off."""
    known = _KNOWN.get(line.partition(" (")[0].strip("#*_: 0123456789.)").casefold(), "")
    return known or (line.removeprefix(MARK).strip(" #:*") if line.startswith(MARK) else "")
