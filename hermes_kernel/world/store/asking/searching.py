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
from hermes_kernel.world.store.index.texts import Match, with_texts
from hermes_kernel.world.store.reading import BeingFolded
from hermes_kernel.world.store.threads import NOTHING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PATIENCE = 5.0  # seconds for a fold to end, before what it holds is left out
AT_ONCE = 32  # matches that are looked at to see in which threads they are; four times as many, where they are in few

PASSAGE = "score, p.session, p.n, p.t, p.role, p.tool, p.number, p.skipped"
BEST = f"""
SELECT {PASSAGE} FROM (SELECT mid, score FROM sifted ORDER BY score DESC, mid DESC LIMIT ?)
JOIN store.passages p USING (mid) ORDER BY score DESC, p.t DESC
"""
NEWEST = f"""
SELECT {PASSAGE} FROM sifted JOIN store.passages p USING (mid) ORDER BY p.t DESC, p.session, p.n DESC LIMIT ?
"""
OF_SESSION = "SELECT * FROM store.passages WHERE number BETWEEN ? AND ? AND session = ?"
OF_FAMILIES = f"""
SELECT {PASSAGE} FROM ({{members}}) p JOIN sifted USING (mid)
QUALIFY row_number() OVER (PARTITION BY p.session ORDER BY score DESC, p.t DESC, p.n DESC) <= {HITS}
"""
UNDONE = "SELECT mid FROM store.passages WHERE session = ? AND n >= ? AND role <> 'title'"
OF_SESSIONS = "SELECT mid FROM store.passages WHERE session IN (SELECT unnest(?::VARCHAR[]))"


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
            roots = _roots(connection, query, found, kin, limit)
            best = with_texts(connection, _matches(connection, kin, roots))
            found = merged(found, Ranked(sifted.met, sifted.total, best))
    about = kin.about(passage.session for _, passage in found.best)
    return shown(found, query, about, limit, _note(known.away))


def _hidden(connection: DuckDBPyConnection, tail: Tail) -> list[int]:
    """The passages of the index that do not stand any more."""
    gone = sorted(tail.retold | tail.deleted)
    rows = connection.execute(OF_SESSIONS, [gone]).fetchall() if gone else []
    for undone in tail.hidden():
        rows.extend(connection.execute(UNDONE, [undone.session, undone.since]).fetchall())
    return [mid for (mid,) in rows]


def _roots(connection: DuckDBPyConnection, query: Query, beside: Ranked, kin: Kin, limit: int) -> list[str]:
    """With which sessions the best threads begin."""
    asked, most = BEST if query.clauses else NEWEST, AT_ONCE
    while True:
        rows = connection.execute(asked, [most]).fetchall()
        index = Ranked(beside.met, len(rows), tuple((row[0], _match(row).passage) for row in rows))
        about = kin.about({row[1] for row in rows} | {passage.session for _, passage in beside.best})
        enough = len({about[row[1]].root for row in rows}) >= limit
        if enough or len(rows) < most:
            best = merged(index, beside)
            return list(dict.fromkeys(about[passage.session].root for _, passage in best.best))[:limit]
        most *= 4


def _matches(connection: DuckDBPyConnection, kin: Kin, roots: list[str]) -> list[Match]:
    """The best matches of each thread."""
    families = kin.members(roots)
    heads = [head for family in families.values() for head in family if head.first_number != NOTHING]
    if not heads:
        return []
    members = OF_FAMILIES.format(members=" UNION ALL ".join([OF_SESSION] * len(heads)))
    given = [value for head in heads for value in (head.first_number, head.last_number, head.session)]
    found = [_match(row) for row in connection.execute(members, given).fetchall()]
    origin = {head.session: root for root, family in families.items() for head in family}
    best: dict[str, list[Match]] = {root: [] for root in roots}
    for match in sorted(found, key=lambda match: (-match.score, -match.passage.t)):
        best[origin[match.passage.session]].append(match)
    return [match for each in best.values() for match in each[:HITS]]


def _match(row: tuple[Any, ...]) -> Match:
    score, session, n, t, role, tool, number, skipped = row
    return Match(score, Passage(session, n, t, role, "", tool), number, skipped)


def _note(away: str) -> str:
    return f"what others said since the last fold was not searched: {away}" if away else ""
