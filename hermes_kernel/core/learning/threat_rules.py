"""How a rule about words is written down and how it finds its place: a word, and what follows within a sentence.

Time is linear: a rule looks only behind its words, and no further than `WINDOW`.
"""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from hermes_kernel.core.learning.threat_folding import pattern

WINDOW = 400  # characters behind a rule's first word
BEFORE = 240  # characters before it that say how it is meant
GAP = r"(?:[^.!?\n]|[.!?](?=[^\s.!?])|\n(?! ?\n)){0,60}?"
ENOUGH = 3  # places that one rule names
TRIED = 4_000  # places at which one rule is tried; a megabyte of prose has half as many of its commonest words

_LONE = re.compile(r"(?<!\n)\n(?!\n)")
_ENDS = re.compile(r"[.!?](?=\s)|\u3002|\n ?\n")
_NOT_MEANT = re.compile(
    r"(?:\b(?:not|never|cannot|may|might|could|can|would|refuse to|refuses to|avoid|no|ne|nicht|\u043d\u0435|nao|non)"
    r"|n['\u2019](?:t)?|dont|\u4e0d\u8981|\u522b|\u4e0d|\u52ff)(?: ever| always| simply| just| be)?[\s\"'`]{0,3}$"
)
_SPOKEN_OF = re.compile(
    pattern(
        r"attack|inject|jailbreak|malicious|adversar|hostile|untrusted|suspicious|phish|exploit|payload|\be\.g|such as"
        r"|for example|for instance|\blike\b|\btr(?:y|ies|ying) to|attempt|detect|\bscan|\bflag|refus|block|reject"
        r"|(?<!\.)example|phrases?\b|whether|ejemplo|ataque|exemple|attaque|beispiel|angriff|angreif|攻击|注入|例如|攻撃|インジェクション"
        r"|атак|инъекц|например|tấn công|ví dụ"
    )
)
_TOLD = re.compile(r"\b(?:to|that|a|models?|llms?|agents?|assistants?|ai|it|them|they|systems?|que|zu)[\s\"'`]{1,3}$")
_OPENING = {"\u201c": "\u201d", "\u00ab": "\u00bb", "\u300c": "\u300d", "\u300e": "\u300f", "\u201e": "\u201c"}


@dataclass(frozen=True, slots=True)
class Rule:
    """``rest`` has to follow one of ``words``. One that ``commands`` is no finding where a sober text says not to do it,
    or speaks of such words; one that is ``negated`` is none in a sentence that forbids it. For a ``lined`` one the ends of
    lines are not mere blanks."""

    kind: str
    what: str
    words: tuple[str, ...]
    rest: str
    commands: bool = True
    negated: bool = False
    lined: bool = False


CROWDED = Rule("size", "It repeats such words more often than any text does", (), "")


def rule(  # noqa: PLR0913 - a rule has this many sides
    kind: str, what: str, words: str, rest: str, *, commands: bool = True, negated: bool = False
) -> Rule:
    """A rule; `words` are separated by spaces, in `rest` ``¦`` is any few words of the same sentence."""
    follows = pattern(rest).replace("\u00a6", GAP)
    return Rule(
        kind, what, tuple(pattern(words).split()), follows, commands=commands, negated=negated, lined="\\n" in rest
    )


@cache
def compiled(rest: str) -> re.Pattern[str]:
    """What follows a rule's words, made when a text first has one of them: most texts have none."""
    return re.compile(rest)


def by_word(rules: Iterable[Rule]) -> Mapping[str, tuple[Rule, ...]]:
    """The rules by each of their words."""
    found: defaultdict[str, tuple[Rule, ...]] = defaultdict(tuple)
    for each in rules:
        for word in each.words:
            found[word] += (each,)
    return dict(found)


def places(text: str, words: re.Pattern[str], rules: Mapping[str, tuple[Rule, ...]]) -> Iterator[tuple[Rule, int, int]]:
    """Where rules of the table `rules` hold in a folded `text`, of which `words` finds the first words: from, to."""
    flowing = _LONE.sub(" ", text)
    named: defaultdict[str, int] = defaultdict(int)
    tried: defaultdict[int, int] = defaultdict(int)
    for word in words.finditer(text):
        for each in rules.get(word[0], ()):
            tried[id(each)] += 1
            if tried[id(each)] == TRIED:
                yield CROWDED, word.start(), word.end()
            if tried[id(each)] >= TRIED or named[each.what] >= ENOUGH:
                continue
            match = compiled(each.rest).match(text if each.lined else flowing, word.end(), word.end() + WINDOW)
            if match and _is_meant(each, text, word.start(), match.end()):
                named[each.what] += 1
                yield each, word.start(), match.end()


def _is_meant(rule: Rule, text: str, start: int, end: int) -> bool:
    """Whether it is said to do so, rather than said of somebody or forbidden."""
    if not rule.commands:
        return True
    before = _ENDS.split(text[max(start - BEFORE, 0) : start])[-1]
    if _NOT_MEANT.search(before) or (rule.negated and re.search(r"\b(?:not|never|avoid|no)\b|n['\u2019]t\b", before)):
        return False
    if not (_TOLD.search(before) or _is_quoted(before)):
        return True
    after = _ENDS.split(text[end : end + BEFORE])[0]
    return not (_SPOKEN_OF.search(before) or _SPOKEN_OF.search(after))


def _is_quoted(before: str) -> bool:
    before = before.replace("```", "")  # a fence quotes nobody
    odd = any(before.count(mark) % 2 for mark in '"`')
    return odd or any(before.count(mark) > before.count(end) for mark, end in _OPENING.items())
