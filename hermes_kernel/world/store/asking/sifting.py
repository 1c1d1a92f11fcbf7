"""Which passages of the index match a query and how well, by the rules of `core.search.rank`, as SQL over columns.

``sifted`` is a temporary table of those that match, with their scores; everything shown is picked from it.
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and our own words; what others wrote is a parameter
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.search.query import Filters, Query, Term
from hermes_kernel.core.search.rank import K1, B, Corpus, idf, terms
from hermes_kernel.core.search.words import fold
from hermes_kernel.world.store.index.terms import Terms

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STANDING = "mid NOT IN (SELECT mid FROM hidden)"
SIZES = "SELECT count(*), coalesce(sum(size), 0)::BIGINT FROM store.passages WHERE {standing}"
FOUND = "CREATE OR REPLACE TEMP TABLE found AS SELECT * FROM ({rows}) WHERE {standing}"
HOLDING = "SELECT term, count(*) FROM found GROUP BY term"
# BM25 in four ways: of some of the terms, of all of them, of one alone, of none.
SOME = """
SELECT mid, sum(idf * often * {k} / (often + {flat} + {slope} * size)) AS score,
       bit_count(bit_or(mask))::INTEGER AS met
FROM found JOIN (VALUES {weights}) w (term, mask, idf) USING (term) {where} GROUP BY mid
"""
ALL = "SELECT mid, {score} AS score, {met} AS met FROM {found} {where}"
OF_TERM = "(SELECT mid, size, often FROM found WHERE term = {at}) t{at}"
WEIGHT = "{idf} * t{at}.often * {k} / (t{at}.often + {flat} + {slope} * t{at}.size)"
ALONE = "SELECT mid, often * {k} / (often + {flat} + {slope} * size) AS score, {met} AS met FROM ({rows})"
NONE = "SELECT mid, 0.0 AS score, 0 AS met FROM store.passages {where}"

WEIGHED = "CREATE OR REPLACE TEMP TABLE weighed AS {rows}"
SIFTED = "CREATE OR REPLACE TEMP VIEW sifted AS SELECT mid, score * {idf} AS score FROM weighed"


Condition = tuple[str, list[object]]
"""SQL about a passage, and its parameters."""


@dataclass(slots=True)
class Conditions:
    """What a passage must be beside its words: conditions that must all hold, as SQL, and their parameters."""

    all: list[str]
    given: list[object]

    def add(self, condition: str) -> None:
        self.all.append(condition)

    def __str__(self) -> str:
        return f"WHERE {' AND '.join(self.all)}" if self.all else ""


class Sifted(NamedTuple):
    """How many clauses the best matches of the index meet and how many passages do, and what BM25 must know of all that
    stand, in the index and beside it."""

    met: int
    total: int
    corpus: Corpus


def hide(connection: DuckDBPyConnection, mids: Sequence[int]) -> str:
    """Have these passages of the index not stand. The condition, in SQL, that one stands."""
    if not mids:
        return "true"
    connection.execute("CREATE OR REPLACE TEMP TABLE hidden AS SELECT unnest(?::INTEGER[]) AS mid", [mids])
    return STANDING


def sift(connection: DuckDBPyConnection, query: Query, beside: Corpus, standing: str) -> Sifted:
    """Have ``sifted`` hold what matches and stands, given what there is beside the index."""
    wanted = terms(query)
    ((messages, units),) = connection.execute(SIZES.format(standing=standing)).fetchall()
    corpus = beside + Corpus(messages, units, {})
    if query.clauses and not wanted:
        return Sifted(0, 0, corpus)
    looked_up = Terms(connection, [*wanted, *query.without])
    kept = _conditions(connection, query, looked_up)
    if not query.clauses:
        kept.add(standing)
        connection.execute(WEIGHED.format(rows=NONE.format(where=kept)), kept.given)
    elif len(wanted) == 1 and not kept.all:
        rows = f"SELECT * FROM ({looked_up.found(wanted[0])}) WHERE {standing}"
        return _weigh_alone(connection, query, corpus, rows)
    else:
        corpus += _find(connection, wanted, looked_up, standing)
        _weigh(connection, query, corpus, kept)
    connection.execute(SIFTED.format(idf="1.0::DOUBLE"))
    return _best(connection, corpus)


def _best(connection: DuckDBPyConnection, corpus: Corpus) -> Sifted:
    """Only what meets the most clauses stays."""
    ((met, least, total),) = connection.execute("SELECT max(met), min(met), count(*) FROM weighed").fetchall()
    if least != met:
        ((dropped,),) = connection.execute("DELETE FROM weighed WHERE met < ?", [met]).fetchall()
        total -= dropped
    return Sifted(met or 0, total, corpus)


def _find(connection: DuckDBPyConnection, wanted: Sequence[Term], looked_up: Terms, standing: str) -> Corpus:
    """Have ``found`` hold every passage with one of the terms, for each of them."""
    connection.execute(FOUND.format(rows=looked_up.found_each(wanted), standing=standing))
    holding = connection.execute(HOLDING).fetchall()
    return Corpus(0, 0, {wanted[at]: passages for at, passages in holding})


def _weigh_alone(connection: DuckDBPyConnection, query: Query, corpus: Corpus, rows: str) -> Sifted:
    """One term, and nothing else is asked: how rare it is changes no order, so it is counted while it is weighed."""
    ((term, mask),) = _masks(query).items()
    met = mask.bit_count()
    connection.execute(WEIGHED.format(rows=ALONE.format(rows=rows, met=met, **_constants(corpus))))
    ((total,),) = connection.execute("SELECT count(*) FROM weighed").fetchall()
    corpus += Corpus(0, 0, {term: total})
    connection.execute(SIFTED.format(idf=_idf(corpus, term)))
    return Sifted(met if total else 0, total, corpus)


def _weigh(connection: DuckDBPyConnection, query: Query, corpus: Corpus, kept: Conditions) -> None:
    """Have ``weighed`` hold what has all terms, where all are asked for and that is something; else what has some."""
    masks = _masks(query)
    if max(map(len, query.clauses)) == 1:
        connection.execute(WEIGHED.format(rows=_of_all(list(masks), corpus, len(query.clauses), kept)), kept.given)
        if connection.execute("SELECT 1 FROM weighed LIMIT 1").fetchall():
            return
    weights = (f"({at}, {masks[term]}::UBIGINT, {_idf(corpus, term)})" for at, term in enumerate(masks))
    rows = SOME.format(weights=", ".join(weights), where=kept, **_constants(corpus))
    connection.execute(WEIGHED.format(rows=rows), kept.given)


def _of_all(wanted: Sequence[Term], corpus: Corpus, clauses: int, kept: Conditions) -> str:
    """The passages with every one of the terms."""
    constants = _constants(corpus)
    weights = (WEIGHT.format(at=at, idf=_idf(corpus, term), **constants) for at, term in enumerate(wanted))
    first, *others = (OF_TERM.format(at=at) for at in range(len(wanted)))
    found = first + "".join(f" JOIN {other} USING (mid)" for other in others)
    return ALL.format(score=" + ".join(weights), met=clauses, found=found, where=kept)


def _constants(corpus: Corpus) -> dict[str, str]:
    """The numbers of BM25 that are the same for every term."""
    usual = corpus.units / max(corpus.messages, 1) or 1.0
    return {"k": f"{K1 + 1}::DOUBLE", "flat": f"{K1 * (1 - B)!r}::DOUBLE", "slope": f"{K1 * B / usual!r}::DOUBLE"}


def _idf(corpus: Corpus, term: Term) -> str:
    return f"{idf(corpus.messages, corpus.holding.get(term, 0))!r}::DOUBLE"


def _masks(query: Query) -> dict[Term, int]:
    """Which clauses each term meets, a bit for each clause."""
    return {term: _mask(query.clauses, term) for term in terms(query)}


def _mask(clauses: Sequence[Sequence[Term]], term: Term) -> int:
    """Which clauses a term meets, a bit for each."""
    return sum(1 << at for at, clause in enumerate(clauses) if term in clause)


def _conditions(connection: DuckDBPyConnection, query: Query, looked_up: Terms) -> Conditions:
    kept = [f"mid NOT IN (SELECT mid FROM ({looked_up.found(term)}))" for term in query.without]
    filtered, given = _filtered(connection, query.filters)
    if filtered and query.clauses:
        kept.append(f"mid IN (SELECT mid FROM store.passages WHERE {' AND '.join(filtered)})")
    else:
        kept.extend(filtered)
    return Conditions(kept, given)


def _filtered(connection: DuckDBPyConnection, filters: Filters) -> tuple[list[str], list[object]]:
    """The filters, as conditions on ``passages`` and their parameters. Names are compared folded, so those there are
    are asked for first."""
    some = [*_places(filters), *_tools(connection, filters), *_sessions(connection, filters)]
    return [condition for condition, _ in some], [value for _, given in some for value in given]


def _places(filters: Filters) -> Iterator[Condition]:
    for what, names in (("role IN", filters.role), ("role NOT IN", filters.no_role)):
        if names:
            yield f"{what} (SELECT unnest(?::VARCHAR[]))", [list(names)]
    for what, names in (("", filters.session), ("NOT ", filters.no_session)):
        if names:
            yield f"{what}({' OR '.join(['starts_with(session, ?)'] * len(names))})", list(names)
    for what, t in (("t >= ?", filters.after), ("t < ?", filters.before)):
        if t is not None:
            yield what, [t]


def _tools(connection: DuckDBPyConnection, filters: Filters) -> Iterator[Condition]:
    if not (filters.tool or filters.no_tool):
        return
    names = [name for (name,) in connection.execute("SELECT DISTINCT tool FROM store.passages").fetchall()]
    kept = [name for name in names if _is_any(name, filters.tool) and fold(name) not in filters.no_tool]
    yield "tool IN (SELECT unnest(?::VARCHAR[]))", [kept]


def _is_any(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or fold(name) in wanted


def _sessions(connection: DuckDBPyConnection, filters: Filters) -> Iterator[Condition]:
    for column, parts, no_parts in (
        ("notebook", filters.notebook, filters.no_notebook),
        ("model", filters.model, filters.no_model),
    ):
        if not (parts or no_parts):
            continue
        found = connection.execute(f"SELECT DISTINCT {column} FROM store.threads").fetchall()
        names = [name for (name,) in found if _has(name, parts, no_parts)]
        of = f"session IN (SELECT session FROM store.threads WHERE {column} IN (SELECT unnest(?::VARCHAR[])))"
        yield of, [names]


def _has(name: str, parts: Sequence[str], no_parts: Sequence[str]) -> bool:
    """Whether a name is one that is asked for."""
    folded = fold(name)
    return (not parts or any(part in folded for part in parts)) and not any(part in folded for part in no_parts)
