"""Searching a home: what its index has and what is not in it yet, ranked as one.

The database is attached for the length of a question. Where somebody else holds it, the rest is searched, and said so.
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and our own words; what others wrote is a parameter
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.search.finding import HITS, shown
from hermes_kernel.core.search.found import Found, Passage
from hermes_kernel.core.search.query import Query
from hermes_kernel.core.search.rank import Ranked, census, merged, ranked
from hermes_kernel.world.store import database
from hermes_kernel.world.store.asking.hand import Hand, Known
from hermes_kernel.world.store.asking.kin import Kin
from hermes_kernel.world.store.asking.sifting import hide, sift
from hermes_kernel.world.store.asking.tail import Tail
from hermes_kernel.world.store.index.building import passages_of, undone
from hermes_kernel.world.store.index.texts import Match, with_texts
from hermes_kernel.world.store.reading import BeingFolded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PATIENCE = 5.0  # seconds for a fold to end, before what it holds is left out
AT_ONCE = 128  # matches that are put into threads and shown there; four times as many, where they are in few of them

PASSAGE = "score, p.session, p.n, p.t, p.role, p.tool, p.number, p.skipped"
BEST = f"""
SELECT {PASSAGE} FROM (SELECT mid, score FROM sifted ORDER BY score DESC, mid DESC LIMIT ?)
JOIN store.passages p USING (mid) ORDER BY score DESC, p.t DESC
"""
NEWEST = f"""
SELECT {PASSAGE} FROM sifted JOIN store.passages p USING (mid) ORDER BY p.t DESC, p.session, p.n DESC LIMIT ?
"""


def search(hand: Hand, query: Query, limit: int) -> Found:
    """The best `limit` threads.

    Raises:
        StoreError: the database is damaged or of a newer format.
    """
    try:
        with hand.reach(PATIENCE) as known:
            return _found(known, query, limit)
    except (database.HeldOpen, BeingFolded) as error:
        note = f"only what was said lately was searched: {error}"
        with hand.reach_beside() as known:
            return replace(_found(known, query, limit), note=note)


def _found(known: Known, query: Query, limit: int) -> Found:
    tail, connection = known.tail, known.connection
    entries = list(tail.entries())
    kin = Kin(connection, tail.heads())
    there = census(entries, query)
    if connection is None:
        found = ranked(entries, query, there)
    else:
        sifted = sift(connection, query, there, hide(connection, _hidden(connection, tail)))
        found = ranked(entries, query, sifted.corpus)
        if sifted.total and sifted.met >= found.met:
            best = with_texts(connection, _best(connection, query, found, kin, limit))
            found = merged(found, Ranked(sifted.met, sifted.total, best))
    about = kin.about(passage.session for _, passage in found.best)
    return shown(found, query, about, limit, _note(known.away))


def _hidden(connection: DuckDBPyConnection, tail: Tail) -> list[int]:
    """The passages of the index that do not stand any more."""
    return passages_of(connection, tail.retold | tail.deleted) + undone(connection, tail.hidden())


def _best(connection: DuckDBPyConnection, query: Query, beside: Ranked, kin: Kin, limit: int) -> list[Match]:
    """The best matches of the best threads, told from those `beside` the index."""
    asked, most = BEST if query.clauses else NEWEST, AT_ONCE
    while True:
        matches = [_match(row) for row in connection.execute(asked, [most]).fetchall()]
        about = kin.about({match.passage.session for match in matches} | {each.session for _, each in beside.best})
        threads: dict[str, list[Match]] = {}
        for match in matches:
            threads.setdefault(about[match.passage.session].root, []).append(match)
        if len(threads) >= limit or len(matches) < most:
            break
        most *= 4
    index = Ranked(beside.met, len(matches), tuple((match.score, match.passage) for match in matches))
    order = dict.fromkeys(about[passage.session].root for _, passage in merged(index, beside).best)
    return [match for root in list(order)[:limit] for match in threads.get(root, [])[:HITS]]


def _match(row: tuple[Any, ...]) -> Match:
    score, session, n, t, role, tool, number, skipped = row
    return Match(score, Passage(session, n, t, role, "", tool), number, skipped)


def _note(away: str) -> str:
    return f"what others said since the last fold was not searched: {away}" if away else ""
