"""What is hostile in a text that a model will read as its own notes: an entry, a skill. It names, a person judges.

A guard against what is known, in linear time; quiet on ordinary prose and code. Whoever means harm finds other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.threat_folding import folded
from hermes_kernel.core.learning.threat_ideographs import IDEOGRAPHS
from hermes_kernel.core.learning.threat_rules import by_word, places
from hermes_kernel.core.learning.threat_secrets import SCRIPTS, SECRETS
from hermes_kernel.core.learning.threat_signs import signs
from hermes_kernel.core.learning.threat_tongues import LETTERS
from hermes_kernel.core.learning.threat_words import ENGLISH
from hermes_kernel.core.text import brief

AT_MOST = 50  # findings of one text
EXCERPT = 160  # characters
WORDS = 3  # of a name, of which fewer say nothing
SIGN = 4  # characters, of which fewer say nothing alone

_LETTERS = by_word((*ENGLISH, *SECRETS, *SCRIPTS, *LETTERS))
_IDEOGRAPHS = by_word(IDEOGRAPHS)
_BETWEEN = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")
_EASTERN = re.compile("|".join(sorted(map(re.escape, _IDEOGRAPHS), key=len, reverse=True)))


def threats(text: str) -> tuple[Finding, ...]:
    """What is suspicious in `text`, in the order of its lines; nothing for ordinary text. Each kind of thing is named
    once for a line, and `AT_MOST` of them in all."""
    found: dict[tuple[str, int], Finding] = {}
    for each in (*_signs(text), *_words(text)):
        if len(found) < AT_MOST:
            found.setdefault((each.what, each.line), each)
    return tuple(sorted(found.values(), key=lambda finding: finding.line))


@lru_cache(1_000)
def in_name(name: str) -> tuple[Finding, ...]:
    """What is suspicious in the name of a skill or a file, which a model reads as well; nothing where it is too short
    to say something."""
    words = _BETWEEN.sub(" ", name).strip()
    found = threats(words) if words.count(" ") + 1 >= WORDS else ()
    return tuple(Finding(each.kind, f"{each.what}, in a name", each.excerpt) for each in found)


def _signs(text: str) -> Iterator[Finding]:
    for count, (kind, what, start, end) in enumerate(signs(text)):
        if count >= AT_MOST:
            return
        yield Finding(kind, what, _excerpt(text, start, end), text.count("\n", 0, start) + 1)


def _words(text: str) -> Iterator[Finding]:
    plain = folded(text)
    tables = [(_WORD, _LETTERS)] if plain.isascii() else [(_WORD, _LETTERS), (_EASTERN, _IDEOGRAPHS)]
    for words, rules in tables:
        for rule, start, end in places(plain, words, rules):
            yield Finding(rule.kind, rule.what, _excerpt(plain, start, end), plain.count("\n", 0, start) + 1)


def _excerpt(text: str, start: int, end: int) -> str:
    """The place, every character of which is seen; a mere sign with a little around it."""
    around = 20 if end - start < SIGN else 0
    shown = text[max(start - around, 0) : min(end, start + EXCERPT) + around]
    return brief("".join(map(_seen, shown)), EXCERPT)


def _seen(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else f"\\u{ord(char):04x}"
