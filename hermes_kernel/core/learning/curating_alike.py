"""Which skills say much the same: overlapping pieces of three words, weighed so that common phrases count for little.

Pure and bounded: a piece that is in very many skills is a phrase of the trade, and pairs nobody.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

WORD = re.compile(r"\w+")
PIECE = 3  # words
CHARS = 20_000  # of a skill that are looked at
COMMON = 40  # skills that share a piece, beyond which it pairs nobody
ALIKE = 0.5
"""The likeness from which a model is asked whether two are one. Two copies have 1, a copy with a third of it rewritten
about 0.5, two skills of one kind that were written apart below 0.2."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a skill says of itself, and says."""

    name: str
    description: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two skills, in the order of their names, and how alike they are: from 0 to 1."""

    one: str
    other: str
    score: float


def alike(skills: Iterable[Said], least: float = ALIKE) -> tuple[Pair, ...]:
    """Pairs of likeness `least` or more, the most alike first; each skill is in one pair at most, so that what is done
    about one pair never meets another."""
    pieces = {said.name: _pieces(said) for said in skills}
    holders = _holders(pieces)
    weights = {piece: 1 / math.sqrt(len(names)) for piece, names in holders.items()}
    whole = {name: sum(weights[piece] for piece in held) for name, held in pieces.items()}
    shared: Counter[tuple[str, str]] = Counter()
    for piece, names in holders.items():
        for pair in combinations(sorted(names), 2) if len(names) <= COMMON else ():
            shared[pair] += weights[piece]  # type: ignore[assignment] # a Counter may count in fractions
    found = (Pair(*pair, both / (whole[pair[0]] + whole[pair[1]] - both)) for pair, both in shared.items())
    return _each_once(pair for pair in found if pair.score >= least)


def _pieces(said: Said) -> frozenset[str]:
    words = WORD.findall(f"{said.name} {said.description} {said.body[:CHARS]}".casefold().replace("_", " "))
    return frozenset(" ".join(words[at : at + PIECE]) for at in range(max(len(words) - PIECE + 1, 1)))


def _holders(pieces: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for name, held in pieces.items():
        for piece in held:
            holders[piece].append(name)
    return holders


def _each_once(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    taken: set[str] = set()
    kept = []
    for pair in sorted(pairs, key=lambda pair: (-pair.score, pair.one, pair.other)):
        if not {pair.one, pair.other} & taken:
            taken |= {pair.one, pair.other}
            kept.append(pair)
    return tuple(kept)
