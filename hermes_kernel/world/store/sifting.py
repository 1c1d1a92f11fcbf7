"""Which passages of the index match a query and how well, by the rules of `core.search.rank`, as SQL over columns.

``sifted`` is a temporary table of those that match, with their scores; everything shown is picked from it.
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and our own words; what others wrote is a parameter
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.search.query import Filters, Query, Term
from hermes_kernel.core.search.rank import K1, B, Corpus, idf, terms
from hermes_kernel.core.search.words import fold
from hermes_kernel.world.store.terms import Terms

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STANDING = "mid NOT IN (SELECT mid FROM hidden)"
SIZES = "SELECT count(*), coalesce(sum(size), 0)::BIGINT FROM store.passages WHERE {standing}"
FOUND = "CREATE OR REPLACE TEMP TABLE found AS {rows}"
FOUND_WITH = "SELECT {term} AS term, mid, size, often FROM ({rows}) WHERE {standing}"
HOLDING = "SELECT term, count(*) FROM found GROUP BY term"
WEIGHED = """
CREATE OR REPLACE TEMP TABLE sifted AS
SELECT mid, sum(idf * often * {k} / (often + {flat} + {slope} * size)) AS score,
       bit_count(bit_or(mask))::INTEGER AS met
FROM found JOIN (VALUES {weights}) w (term, mask, idf) USING (term) {where} GROUP BY mid
"""
WEIGHED_ALONE = """
CREATE OR REPLACE TEMP TABLE sifted AS
SELECT mid, {idf} * often * {k} / (often + {flat} + {slope} * size) AS score, {met} AS met FROM found {where}
"""
UNWEIGHED = "CREATE OR REPLACE TEMP TABLE sifted AS SELECT mid, 0.0 AS score, 0 AS met FROM store.passages {where}"


Condition = tuple[str, list[object]]
"""SQL about a passage, and its parameters."""


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
    kept, given = _conditions(connection, query, looked_up)
    kept += [] if query.clauses else [standing]
    where = f"WHERE {' AND '.join(kept)}" if kept else ""
    if query.clauses:
        corpus += _find(connection, wanted, looked_up, standing)
        connection.execute(_weighed(query, corpus, where), given)
    else:
        connection.execute(UNWEIGHED.format(where=where), given)
    ((met, least, total),) = connection.execute("SELECT max(met), min(met), count(*) FROM sifted").fetchall()
    if least != met:
        ((dropped,),) = connection.execute("DELETE FROM sifted WHERE met < ?", [met]).fetchall()
        total -= dropped
    return Sifted(met or 0, total, corpus)


def _find(connection: DuckDBPyConnection, wanted: Sequence[Term], looked_up: Terms, standing: str) -> Corpus:
    """Have ``found`` hold every passage with one of the terms, for each of them."""
    rows = (FOUND_WITH.format(term=at, rows=looked_up.found(term), standing=standing) for at, term in enumerate(wanted))
    connection.execute(FOUND.format(rows=" UNION ALL ".join(rows)))
    holding = connection.execute(HOLDING).fetchall()
    return Corpus(0, 0, {wanted[at]: passages for at, passages in holding})


def _weighed(query: Query, corpus: Corpus, where: str) -> str:
    """BM25 over what was found, with the weights of the terms worked out already."""
    usual = corpus.units / max(corpus.messages, 1) or 1.0
    masks = {term: _mask(query.clauses, term) for term in terms(query)}
    weights = {term: f"{idf(corpus.messages, corpus.holding.get(term, 0))!r}::DOUBLE" for term in masks}
    constants = {
        "k": f"{K1 + 1}::DOUBLE",
        "flat": f"{K1 * (1 - B)!r}::DOUBLE",
        "slope": f"{K1 * B / usual!r}::DOUBLE",
        "where": where,
    }
    if len(masks) == 1:
        ((term, mask),) = masks.items()
        return WEIGHED_ALONE.format(idf=weights[term], met=mask.bit_count(), **constants)
    rows = (f"({at}, {mask}::UBIGINT, {weights[term]})" for at, (term, mask) in enumerate(masks.items()))
    return WEIGHED.format(weights=", ".join(rows), **constants)


def _mask(clauses: Sequence[Sequence[Term]], term: Term) -> int:
    """Which clauses a term meets, a bit for each."""
    return sum(1 << at for at, clause in enumerate(clauses) if term in clause)


def _conditions(connection: DuckDBPyConnection, query: Query, looked_up: Terms) -> tuple[list[str], list[object]]:
    """What a passage must be beside its words, as SQL and its parameters."""
    kept = [f"mid NOT IN (SELECT mid FROM ({looked_up.found(term)}))" for term in query.without]
    filtered, given = _filtered(connection, query.filters)
    if filtered and query.clauses:
        kept.append(f"mid IN (SELECT mid FROM store.passages WHERE {' AND '.join(filtered)})")
    else:
        kept.extend(filtered)
    return kept, given


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
