"""What is hostile in a text that a model will read as its own notes: a memory entry, a skill. It names, a person judges.

A guard against what is known, in linear time; quiet on ordinary prose and code. Whoever means harm finds other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.threat_folding import folded
from hermes_kernel.core.learning.threat_rules import by_word, places
from hermes_kernel.core.learning.threat_signs import signs
from hermes_kernel.core.learning.threat_tongues import IDEOGRAPHS, LETTERS
from hermes_kernel.core.learning.threat_words import ENGLISH
from hermes_kernel.core.text import brief

AT_MOST = 50  # findings of one text
EXCERPT = 160  # characters

_LETTERS = by_word((*ENGLISH, *LETTERS))
_IDEOGRAPHS = by_word(IDEOGRAPHS)
_WORD = re.compile(r"[^\W_]+")
_EASTERN = re.compile("|".join(sorted(map(re.escape, _IDEOGRAPHS), key=len, reverse=True)))
_HIDDEN = re.compile(
    r"[^\S ]|[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff\x00-\x1f]"
)


def threats(text: str) -> tuple[Finding, ...]:
    """What is suspicious in `text`, in the order of its lines; nothing for ordinary text. Each kind of thing is named
    once for a line, and `AT_MOST` of them in all."""
    found: dict[tuple[str, int], Finding] = {}
    for each in (*_signs(text), *_words(text)):
        if len(found) < AT_MOST:
            found.setdefault((each.what, each.line), each)
    return tuple(sorted(found.values(), key=lambda finding: finding.line))


def _signs(text: str) -> Iterator[Finding]:
    lines = _Lines(text)
    for count, (kind, what, start, end) in enumerate(signs(text)):
        if count >= AT_MOST:
            return
        yield Finding(kind, what, _excerpt(text, start, end), lines.of(start))


def _words(text: str) -> Iterator[Finding]:
    plain = folded(text)
    tables = [(_WORD, _LETTERS)] if plain.isascii() else [(_WORD, _LETTERS), (_EASTERN, _IDEOGRAPHS)]
    for words, rules in tables:
        lines = _Lines(plain)
        for rule, start, end in places(plain, words, rules):
            yield Finding(rule.kind, rule.what, _excerpt(plain, start, end), lines.of(start))


class _Lines:
    """Numbers of lines of places that come in order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def of(self, place: int) -> int:
        if place < self._at:
            return self._text.count("\n", 0, place) + 1
        self._line += self._text.count("\n", self._at, place)
        self._at = place
        return self._line


def _excerpt(text: str, start: int, end: int) -> str:
    shown = text[max(start - 20, 0) : min(end, start + 10 * EXCERPT) + 20]
    return brief(_HIDDEN.sub(lambda found: " " if found[0].isspace() else f"\\u{ord(found[0]):04x}", shown), EXCERPT)
