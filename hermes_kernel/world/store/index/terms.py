"""Where the terms of a query stand: from words, phrases and beginnings of words to the postings that hold them, as SQL.

Nothing that a person typed becomes SQL: units are looked up as parameters, and what is asked for then are numbers.
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and our own words; what others wrote is a parameter
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.search.query import Term

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LAST = "\U0010ffff"
HEAD = 8  # bytes
AT_ONCE = 64  # units that are asked for in one statement

UNIT = "SELECT {at} AS at, id, run, passages FROM store.units WHERE head = {head}"
BEGINNING = """
SELECT min(id), max(id), run, sum(passages)::BIGINT FROM store.units WHERE head BETWEEN ? AND ? {more} GROUP BY run
"""
OF_TERM = "SELECT {at} AS term, mid, size, often FROM ({rows})"
OF_WORDS = """
SELECT term, mid, size, often FROM (SELECT id, mid, size, often FROM store.postings WHERE id IN ({ids}))
JOIN (VALUES {words}) w (id, term) USING (id)
"""
NONE = "SELECT 0 AS mid, 0 AS size, 0 AS often, []::INTEGER[] AS places WHERE false"


class Span(NamedTuple):
    """A unit in one run, or all units there that begin alike: the ids, and in how many passages they are."""

    low: int
    high: int
    passages: int


class Piece(NamedTuple):
    """What must stand ``offset`` places behind the beginning of a phrase."""

    offset: int
    span: Span


class Terms:
    """The terms of one query, looked up in the database attached as ``store``."""

    def __init__(self, connection: DuckDBPyConnection, terms: Sequence[Term]) -> None:
        self._runs: dict[int, int] = dict(connection.execute("SELECT run, common FROM store.runs").fetchall())
        self._units = _looked_up(connection, {unit for term in terms for unit in _whole(term)})
        pairs = {pair for term in terms for pair in self._common(term)}
        self._units |= _looked_up(connection, pairs)
        self._beginnings = {
            last: _beginning(connection, last) for last in {term.units[-1] for term in terms if term.prefix}
        }

    def found_each(self, terms: Sequence[Term]) -> str:
        """SQL that gives ``term``, ``mid``, ``size`` and ``often`` for every passage with one of `terms`, of which
        ``term`` is the place. Words are looked for in one scan: it costs little more than that of the first."""
        words = {unit: at for at, term in enumerate(terms) for unit in self._word(term)}
        others = [at for at in range(len(terms)) if at not in set(words.values())]
        apart = (OF_TERM.format(at=at, rows=self.found(terms[at])) for at in others)
        return " UNION ALL ".join([*_together(words), *apart])

    def _word(self, term: Term) -> list[int]:
        """The ids of a term that is one whole unit, one in each run that has it."""
        if term.prefix or len(term.units) != 1:
            return []
        return [span.low for span in self._units[term.units[0]].values()]

    def found(self, term: Term) -> str:
        """SQL that gives ``mid``, ``size`` and ``often`` for every passage with `term`."""
        shapes: dict[tuple[int, ...], list[list[Piece]]] = defaultdict(list)
        for run in self._runs:
            pieces = self._pieces(term, run)
            if pieces:
                shapes[tuple(piece.offset for piece in pieces)].append(pieces)
        if not shapes:
            return f"SELECT mid, size, often FROM ({NONE})"
        return " UNION ALL ".join(_joined(runs, prefix=term.prefix) for runs in shapes.values())

    def _pieces(self, term: Term, run: int) -> list[Piece]:
        """What to look for in one run, in order; nothing, where something is missing. Neighbours that are both common
        there are looked for as one."""
        spans = [self._units.get(unit, {}).get(run) for unit in term.units]
        if term.prefix:
            spans[-1] = self._beginnings[term.units[-1]].get(run)
        pairs = dict(self._pairs(term, run, spans))
        single = [at for at in range(len(spans)) if at not in pairs and at - 1 not in pairs]
        pieces = [(at, span) for at, span in (*pairs.items(), *((at, spans[at]) for at in single))]
        if any(span is None for _, span in pieces):
            return []
        return sorted(Piece(at, span) for at, span in pieces if span)

    def _common(self, term: Term) -> Iterator[str]:
        """The neighbours that have a row of their own in some run."""
        for run, common in self._runs.items():
            spans = [self._units[unit].get(run) for unit in _whole(term)]
            many = [span is not None and span.passages > common for span in spans]
            for at, both in enumerate(pairwise(many)):
                if all(both):
                    yield f" {term.units[at]} {term.units[at + 1]}"

    def _pairs(self, term: Term, run: int, spans: Sequence[Span | None]) -> Iterator[tuple[int, Span | None]]:
        common = [span is not None and span.passages > self._runs[run] for span in spans]
        if term.prefix:
            common[-1] = False
        for at, (one, other) in enumerate(pairwise(term.units)):
            if common[at] and common[at + 1]:
                yield at, self._units.get(f" {one} {other}", {}).get(run)


def _together(words: Mapping[int, int]) -> Iterator[str]:
    """The postings with these ids, each with the place of the term that it stands for."""
    if words:
        told = ", ".join(f"({unit}, {at})" for unit, at in words.items())
        yield OF_WORDS.format(ids=", ".join(map(str, words)), words=told)


def _whole(term: Term) -> tuple[str, ...]:
    """The units of a term that are not the beginning of one only."""
    return term.units[:-1] if term.prefix else term.units


def head(unit: str, fill: bytes = b"\0") -> int:
    """The first bytes of a unit, as a number that sorts as units do."""
    return int.from_bytes(unit.encode()[:HEAD].ljust(HEAD, fill), "big")


def _looked_up(connection: DuckDBPyConnection, units: Iterable[str]) -> dict[str, dict[int, Span]]:
    """Where each unit is. A question for many, with a condition each: what lies between them in the table is not
    read."""
    names = sorted(units)
    found: dict[str, dict[int, Span]] = {unit: {} for unit in names}
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        asked = " UNION ALL ".join(_asked(at, unit) for at, unit in enumerate(some))
        for at, number, run, passages in connection.execute(asked, [u for u in some if not _short(u)]).fetchall():
            found[some[at]][run] = Span(number, number, passages)
    return found


def _asked(at: int, unit: str) -> str:
    return UNIT.format(at=at, head=head(unit)) + ("" if _short(unit) else " AND unit = ?")


def _short(unit: str) -> bool:
    """Whether its head is all there is of it."""
    return len(unit.encode()) < HEAD


def _beginning(connection: DuckDBPyConnection, letters: str) -> dict[int, Span]:
    """The units that begin so. Where their heads say it, their names are not read."""
    given: list[object] = [head(letters), head(letters, b"\xff")]
    more = ""
    if len(letters.encode()) > HEAD:
        more = "AND unit >= ? AND unit < ?"
        given += [letters, letters + LAST]
    rows = connection.execute(BEGINNING.format(more=more), given).fetchall()
    return {run: Span(low, high, passages) for low, high, run, passages in rows}


def _joined(runs: Sequence[Sequence[Piece]], *, prefix: bool) -> str:
    """The passages in which all pieces stand in their places, in runs where they are the same kind of pieces."""
    columns = list(zip(*runs, strict=True))
    if len(columns) == 1:
        return _alone([piece.span for piece in columns[0]], grouped=prefix)
    columns.sort(key=lambda column: sum(piece.span.passages for piece in column))  # the rarest first
    first, *others = [_placed(column) for column in columns]
    joins = "".join(f" JOIN {other} p{at} USING (mid, place)" for at, other in enumerate(others, 1))
    return f"SELECT mid, any_value(p0.size) AS size, count(*)::INTEGER AS often FROM {first} p0{joins} GROUP BY mid"


def _alone(spans: Sequence[Span], *, grouped: bool) -> str:
    rows = _rows(spans, "mid, size, often")
    if not grouped:
        return rows
    return f"SELECT mid, any_value(size) AS size, sum(often)::INTEGER AS often FROM ({rows}) GROUP BY mid"


def _placed(pieces: Sequence[Piece]) -> str:
    """Where the phrase would begin, for every place of this piece of it."""
    rows = _rows([piece.span for piece in pieces], "mid, size, places")
    return f"(SELECT mid, size, unnest(places) - {pieces[0].offset} AS place FROM ({rows}))"


def _rows(spans: Sequence[Span], columns: str) -> str:
    """Postings by their ids; each is looked for in those groups of rows that can have it."""
    one = f"SELECT {columns} FROM store.postings WHERE id"
    single = [str(low) for low, high, _ in spans if low == high]
    several = [f"{one} BETWEEN {low} AND {high}" for low, high, _ in spans if low != high]
    return " UNION ALL ".join([*([f"{one} IN ({', '.join(single)})"] if single else []), *several])
