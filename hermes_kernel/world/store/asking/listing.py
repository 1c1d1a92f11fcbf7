"""Lists of sessions. Only the facts of those listed are unpacked, however many there are."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hermes_kernel.world.store import database
from hermes_kernel.world.store.asking.hand import Hand, Known
from hermes_kernel.world.store.asking.kin import Kin
from hermes_kernel.world.store.naming import named
from hermes_kernel.world.store.threads import NOTHING, Head
from hermes_kernel.world.store.views import VIEWS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHAT = "chat"
KIND = "SELECT coalesce(body->>'kind', 'chat') FROM facts WHERE kind = 'Opened' ORDER BY n LIMIT 1"
MOST = 2**31  # sessions; DuckDB counts no further than 2**63
LOOKS = (1, 64, MOST)  # sessions that are looked at for a conversation, the last active first
HEADS = """
SELECT session, parent, title, notebook, model, last, asked, latest, first_number, last_number
FROM store.threads WHERE session NOT IN (SELECT unnest(?::VARCHAR[])) AND (? IS NULL OR notebook = ?)
ORDER BY last DESC, session DESC LIMIT ?
"""
FACTS = """
CREATE OR REPLACE TEMP TABLE facts AS
SELECT uid, session, n, t, kind, body FROM store.facts
WHERE (number BETWEEN ? AND ? OR number >= (SELECT facts FROM store.indexed))
  AND session IN (SELECT unnest(?::VARCHAR[]))
UNION ALL FROM incoming
"""
FACTS_OF_TAIL = "CREATE OR REPLACE TEMP TABLE facts AS FROM incoming"
NAMED = """
SELECT session, title FROM store.threads
WHERE session NOT IN (SELECT unnest(?::VARCHAR[])) AND (starts_with(session, ?) OR title = ?)
"""
EVERYBODY = "SELECT session FROM store.threads WHERE session NOT IN (SELECT unnest(?::VARCHAR[]))"
ROWS = """
SELECT id, parent, kind, title, notebook, model, epoch(started), epoch(ended), outcome, calls, tokens, cost,
       epoch(active), coalesce(further, '')
FROM sessions LEFT JOIN (
    SELECT session, max(body->>'session_id') AS further FROM facts WHERE kind = 'Continued' GROUP BY session
) ON session = id ORDER BY active DESC, id DESC
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of a list of sessions. Times are seconds since 1970-01-01 UTC; ``ended`` is None and ``outcome`` empty
    while a turn is open; ``title`` falls back to the first prompt; ``cost`` is in US dollars; ``continued`` is the
    session in which the conversation goes on since it was compressed, empty where it was not."""

    id: str
    parent: str
    kind: str
    title: str
    notebook: str
    model: str
    started: float
    ended: float | None
    outcome: str
    calls: int
    tokens: int
    cost: float
    active: float
    continued: str = ""


def newest(hand: Hand, limit: int) -> list[SessionRow]:
    """The sessions last active, newest first."""
    with hand.reach() as known:
        heads = _last_active(known, min(limit, MOST))
        connection = known.connection
        with closing(database.connect()) if connection is None else nullcontext(connection) as asked:
            _bring_facts(asked, known, heads)
            asked.execute(VIEWS)
            rows = asked.execute(ROWS).fetchall()
            asked.execute("DROP TABLE facts")
    return [SessionRow(*row) for row in rows]


def latest(hand: Hand, notebook: str | None = None) -> str | None:
    """The conversation last active, in one notebook or in any; where that was a subagent or a row of a map, the one it
    worked for. What worked for nobody that is still there is named only where there is no conversation at all."""
    with hand.reach() as known:
        for most in LOOKS:
            heads = _last_active(known, most, notebook)
            roots = dict.fromkeys(_worked_for(known, head) for head in _one_of_each(heads))
            chat = next((root.session for root in roots if _kind(known, root) == CHAT), None)
            if chat or len(heads) < most:
                return chat or next((root.session for root in roots), None)
    return None


def ids(hand: Hand) -> list[str]:
    """Every session there is."""
    with hand.reach() as known:
        heads = known.tail.heads()
        rows = known.connection.execute(EVERYBODY, [_told_or_gone(known)]).fetchall() if known.connection else []
        return [*heads, *(session for (session,) in rows)]


def find(hand: Hand, text: str) -> str:
    """The session that `text` names: its id or four letters or more of its beginning, its exact title, or ``last``.

    Raises:
        NoSession: none, or more than one; the text names those it could be.
    """
    with hand.reach() as known:
        heads = known.tail.heads()
        titles = {session: head.title for session, head in heads.items()}
        if known.connection:
            titles |= dict(known.connection.execute(NAMED, [_told_or_gone(known), text, text]).fetchall())
    return named(text, titles, partial(latest, hand), partial(ids, hand))


def _one_of_each(heads: list[Head]) -> list[Head]:
    """Of those with the same parent the last active one: a map has thousands of rows."""
    newest: dict[str, Head] = {}
    for head in heads:
        newest.setdefault(head.parent or head.session, head)
    return list(newest.values())


def _worked_for(known: Known, head: Head) -> Head:
    kin = Kin(known.connection, known.tail.heads())
    while head.parent and head.parent not in known.tail.deleted and _kind(known, head) != CHAT:
        above = kin.heads([head.parent]).get(head.parent)
        if above is None:
            break
        head = above
    return head


def _kind(known: Known, head: Head) -> str:
    connection = known.connection
    with closing(database.connect()) if connection is None else nullcontext(connection) as asked:
        _bring_facts(asked, known, [head])
        found = asked.execute(KIND).fetchone()
        asked.execute("DROP TABLE facts")
    return str(found[0]) if found else CHAT


def _last_active(known: Known, limit: int, notebook: str | None = None) -> list[Head]:
    heads = [head for head in known.tail.heads().values() if notebook in {None, head.notebook}]
    if known.connection:
        given = [_told_or_gone(known), notebook, notebook, limit]
        heads.extend(map(Head._make, known.connection.execute(HEADS, given).fetchall()))
    return sorted(heads, key=lambda head: (head.last, head.session), reverse=True)[:limit]


def _told_or_gone(known: Known) -> list[str]:
    """Sessions of which the database is not to be asked: the tail knows them better, or they are deleted."""
    return sorted({*known.tail.heads(), *known.tail.deleted})


def _bring_facts(connection: DuckDBPyConnection, known: Known, heads: list[Head]) -> None:
    """Have a table ``facts`` hold the facts of these sessions, wherever they are."""
    names = [head.session for head in heads]
    database.bring(connection, known.tail.records(names))
    if known.connection is None:
        connection.execute(FACTS_OF_TAIL)
        return
    stored = [head for head in heads if head.first_number != NOTHING]
    low = min((head.first_number for head in stored), default=NOTHING)
    high = max((head.last_number for head in stored), default=NOTHING)
    connection.execute(FACTS, [low, high, names])
