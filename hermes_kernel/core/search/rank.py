"""BM25, and a search over messages one by one: what the index must give, and what finds in a tail or in memory.

k1 = 1.2 and b = 0.75, as in SQLite's FTS5 and Lucene; a phrase or a prefix counts as one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_kernel.core.search.query import Query, Term

K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Corpus:
    """What BM25 must know of all messages: how many there are, how many units in all, and how many hold each term."""

    messages: int
    units: int
    holding: dict[Term, int]


def count(line: str, term: Term) -> int:
    """How often ``term`` is in a line made by `words.row`."""
    raise NotImplementedError


def matches(line: str, query: Query) -> bool:
    """Whether a message with this line meets the clauses of ``query`` and has none of what it is to be without; filters
    are not looked at."""
    raise NotImplementedError


def score(line: str, length: int, query: Query, corpus: Corpus) -> float:
    """The sum over the terms of ``query`` that are there."""
    raise NotImplementedError


def terms(query: Query) -> Sequence[Term]:
    """Every term of the clauses, once."""
    raise NotImplementedError
