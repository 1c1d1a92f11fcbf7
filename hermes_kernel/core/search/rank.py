"""BM25, and a search over messages one by one: what the index must give, and what finds in a tail or in memory.

k1 = 1.2 and b = 0.75, as in SQLite's FTS5 and Lucene; a phrase or a prefix counts as one word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.search.query import Filters, Query, Term
from hermes_kernel.core.search.words import fold, row

K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Corpus:
    """What BM25 must know of all messages: how many there are, how many units in all, and how many hold each term."""

    messages: int
    units: int
    holding: dict[Term, int]

    def __add__(self, other: Corpus) -> Corpus:
        """Of two places that have no message in common."""
        holding = {
            term: self.holding.get(term, 0) + other.holding.get(term, 0) for term in self.holding | other.holding
        }
        return Corpus(self.messages + other.messages, self.units + other.units, holding)


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as it is looked through: its ``line`` and ``length`` are what `words.row` makes of it, ``notebook`` and
    ``model`` are of its session."""

    passage: Passage
    line: str
    length: int
    notebook: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """``total`` messages meet ``met`` clauses, which is as many as any message does; ``best`` are the best of them in
    order, each with its score."""

    met: int = 0
    total: int = 0
    best: tuple[tuple[float, Passage], ...] = ()


def needle(term: Term) -> str:
    """What a line made by `words.row` contains when it has ``term``."""
    return " " + "  ".join(term.units) + ("" if term.prefix else " ")


def count(line: str, term: Term) -> int:
    """How often ``term`` is in a line made by `words.row`; ``"a a"`` is twice in ``a a a``."""
    if len(set(term.units)) == len(term.units):
        return line.count(needle(term))
    return sum(1 for _ in re.finditer(f"(?={re.escape(needle(term))})", line))


def matches(line: str, query: Query) -> bool:
    """Whether a message with this line meets the clauses of ``query`` and has none of what it is to be without; filters
    are not looked at."""
    return allowed(line, query) and clauses_met(line, query) == len(query.clauses)


def allowed(line: str, query: Query) -> bool:
    """Whether a message with this line has none of what it is to be without."""
    return not any(needle(term) in line for term in query.without)


def clauses_met(line: str, query: Query) -> int:
    """How many clauses a message with this line meets."""
    return sum(any(needle(term) in line for term in clause) for clause in query.clauses)


def passes(entry: Entry, filters: Filters) -> bool:
    """Whether a message is what the filters ask for, whatever its words are."""
    said, notebook, model = entry.passage, fold(entry.notebook), fold(entry.model)
    tool = fold(said.tool)
    return (
        (not filters.role or said.role in filters.role)
        and said.role not in filters.no_role
        and (not filters.tool or tool in filters.tool)
        and tool not in filters.no_tool
        and (not filters.notebook or any(part in notebook for part in filters.notebook))
        and not any(part in notebook for part in filters.no_notebook)
        and (not filters.model or any(part in model for part in filters.model))
        and not any(part in model for part in filters.no_model)
        and (not filters.session or said.session.startswith(filters.session))
        and not said.session.startswith(filters.no_session)
        and (filters.after is None or said.t >= filters.after)
        and (filters.before is None or said.t < filters.before)
    )


def idf(messages: int, holding: int) -> float:
    """How much a word says that ``holding`` of ``messages`` have; never quite nothing."""
    return max(math.log((messages - holding + 0.5) / (holding + 0.5)), 1e-6)


def score(line: str, length: int, query: Query, corpus: Corpus) -> float:
    """The sum over the terms of ``query`` that are there."""
    usual = corpus.units / max(corpus.messages, 1) or 1.0
    fit = K1 * (1 - B + B * length / usual)
    often = ((count(line, term), term) for term in terms(query))
    return sum(idf(corpus.messages, corpus.holding.get(term, 0)) * n * (K1 + 1) / (n + fit) for n, term in often if n)


def terms(query: Query) -> Sequence[Term]:
    """Every term of the clauses, once."""
    return tuple(dict.fromkeys(chain.from_iterable(query.clauses)))


def census(entries: Iterable[Entry], query: Query) -> Corpus:
    """What BM25 must know of these messages to rank them for ``query``."""
    messages, units, holding = 0, 0, dict.fromkeys(terms(query), 0)
    for entry in entries:
        messages += 1
        units += entry.length
        for term in holding:
            holding[term] += needle(term) in entry.line
    return Corpus(messages, units, holding)


def ranked(entries: Iterable[Entry], query: Query, corpus: Corpus) -> Ranked:
    """Those of ``entries`` that match, best first; where none meets every clause, those that meet the most."""
    at_hand = [entry for entry in entries if allowed(entry.line, query) and passes(entry, query.filters)]
    meeting = [(clauses_met(entry.line, query), entry) for entry in at_hand]
    met = max((n for n, _ in meeting), default=0)
    if query.clauses and not met:
        return Ranked()
    best = [entry for n, entry in meeting if n == met]
    scored = ((score(entry.line, entry.length, query, corpus), entry.passage) for entry in best)
    return Ranked(met, len(best), tuple(sorted(scored, key=_order)))


def merged(one: Ranked, other: Ranked) -> Ranked:
    """What two places that have no message in common have found, with the same `Corpus`, as one."""
    if one.met != other.met and one.total and other.total:
        return max(one, other, key=lambda found: found.met)
    best = tuple(sorted((*one.best, *other.best), key=_order))
    return Ranked(max(one.met, other.met), one.total + other.total, best)


def entry(passage: Passage, notebook: str = "", model: str = "") -> Entry:
    """A message made ready to be looked through, which is most of the work of a search without an index."""
    return Entry(passage, *row(passage.text), notebook, model)


def _order(scored: tuple[float, Passage]) -> tuple[float, float, str, int]:
    """The better match first, then the newer."""
    points, passage = scored
    return -points, -passage.t, passage.session, -passage.n
