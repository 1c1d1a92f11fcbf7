"""Skills found by words: in the name above all, then tags, description and text. Knows no disk.

A word is found where one begins with it, without its ending: ``plotting`` finds ``plots``. Rare words weigh more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hermes_kernel.core.search.words import fold, units

LOOKED = 20_000  # characters of a text that are looked through
WORDS = 16  # of a query
MANY = 5  # times a word is in a text; more often says no more
NAME, TAG, SAID = 8.0, 4.0, 3.0
ENDINGS = ("ing", "ed", "es", "s", "e")
SHORTEST = 4  # letters that are left of a word without its ending
FULL = 2.0  # the weight at which a word says half of what it can
FOREIGN = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class Text:
    """What is looked through of one skill."""

    name: str
    description: str
    tags: tuple[str, ...]
    body: str


def found(query: str, texts: Iterable[Text]) -> tuple[str, ...]:
    """The names of those that have a word of `query`, the best first; of two as good, in the order of names."""
    wanted = stems(query)
    weighed = [(each.name, weights) for each in texts if any(weights := _weights(each, wanted))]
    holding = [sum(1 for _, weights in weighed if weights[n]) for n in range(len(wanted))]
    scored = ((-_score(weights, holding, len(weighed)), name) for name, weights in weighed)
    return tuple(name for _, name in sorted(scored))


def stems(query: str) -> tuple[str, ...]:
    """The words of `query` as they are looked for, each once."""
    parts = (part for unit in units(query) for part in (unit.parts or (unit.text,)))
    return tuple(dict.fromkeys(map(_stem, parts)))[:WORDS]


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word[: -len(ending)]
    return word


def _weights(text: Text, stems: Sequence[str]) -> list[float]:
    name, said, tags = fold(text.name), fold(text.description), fold(" ".join(text.tags))
    body = _folded(text.body[:LOOKED])
    return [
        NAME * (_count(name, stem, 1))
        + TAG * (_count(tags, stem, 1))
        + SAID * (_count(said, stem, 1))
        + _count(body, stem, MANY)
        for stem in stems
    ]


def _folded(text: str) -> str:
    """`text` folded as words are; of a long one that is nearly ASCII only what is not is looked at closely."""
    return text.lower() if text.isascii() else FOREIGN.sub(_fold_run, text.lower())


def _fold_run(found: re.Match[str]) -> str:
    return fold(found[0])


def _count(text: str, stem: str, most: int) -> int:
    """How often a word of `text` begins with `stem`, up to `most`. Without spaces it may begin anywhere."""
    counted, at = 0, text.find(stem)
    while at >= 0 and counted < most:
        counted += at == 0 or not text[at - 1].isalnum() or not stem.isascii()
        at = text.find(stem, at + len(stem))
    return counted


def _score(weights: Sequence[float], holding: Sequence[int], total: int) -> float:
    """The sum over the words, as BM25 has it, times the part of the words that are there."""
    rare = [math.log(1 + (total - n + 0.5) / (n + 0.5)) for n in holding]
    there = sum(1 for weight in weights if weight) / len(weights)
    return there * sum(idf * weight / (weight + FULL) for idf, weight in zip(rare, weights, strict=True))
