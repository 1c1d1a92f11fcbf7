"""Lists of sessions. Only the facts of those listed are unpacked, however many there are."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hermes_kernel.core.learnt import LEARNING
from hermes_kernel.core.planned import RUN, SCHEDULE
from hermes_kernel.core.search.passages import BESIDE, SPOKEN
from hermes_kernel.world.store import database
from hermes_kernel.world.store.asking.hand import Hand, Known
from hermes_kernel.world.store.asking.kin import Kin
from hermes_kernel.world.store.naming import named
from hermes_kernel.world.store.threads import NOTHING, Head
from hermes_kernel.world.store.views import VIEWS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHAT = "chat"
KINDS = """
SELECT session, coalesce(body->>'kind', 'chat') FROM store.facts
WHERE kind = 'Opened' AND session IN (SELECT unnest(?::VARCHAR[]))
  AND (number BETWEEN ? AND ? OR number >= (SELECT facts FROM store.indexed))
"""
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
    """The sessions last active, newest first; without those that hold what was learnt."""
    with hand.reach() as known:
        heads = _told_of(known, min(limit, MOST))
        connection = known.connection
        with closing(database.connect()) if connection is None else nullcontext(connection) as asked:
            bring_facts(asked, known, heads)
            asked.execute(VIEWS)
            rows = asked.execute(ROWS).fetchall()
            asked.execute("DROP TABLE facts")
    return [SessionRow(*row) for row in rows]


def latest(hand: Hand, notebook: str | None = None) -> str | None:
    """The conversation last active, in one notebook or in any; where that was a subagent or a row of a map, the one it
    worked for. A run of a job is one only under its own name. What worked for nobody that is still there is named only
    where there is no conversation at all, and what a slow loop did is no activity."""
    with hand.reach() as known:
        for most in LOOKS:
            heads = _last_active(known, most, notebook)
            kinds = kinds_of(known, heads)
            own = [head for head in heads if kinds[head.session] not in BESIDE]
            found = dict.fromkeys(_worked_for(known, head, kinds) for head in _one_of_each(own))
            roots = [root for root in found if notebook is not None or kinds[root.session] != RUN]
            chat = next((root.session for root in roots if kinds[root.session] in SPOKEN), None)
            if chat or len(heads) < most:
                return chat or next((root.session for root in roots), None)
    return None


def ids(hand: Hand) -> list[str]:
    """Every session there is."""
    with hand.reach() as known:
        heads = known.tail.heads()
        rows = known.connection.execute(EVERYBODY, [_told_or_gone(known)]).fetchall() if known.connection else []
        return [*heads, *(session for (session,) in rows)]


def everybody(hand: Hand) -> frozenset[str]:
    """Every session there is or was: one that was deleted stays so, under whatever it might go on."""
    there = ids(hand)
    with hand.reach() as known:
        return frozenset((*there, *known.tail.deleted))


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


def _worked_for(known: Known, head: Head, kinds: dict[str, str]) -> Head:
    """The conversation at which a session leads out. Adds the kinds of those on the way."""
    kin = Kin(known.connection, known.tail.heads())
    line = {head.session}
    while head.parent and head.parent not in known.tail.deleted and kinds[head.session] not in SPOKEN:
        above = kin.heads([head.parent]).get(head.parent)
        if above is None or above.session in line:
            break
        line.add(above.session)
        kinds |= {} if above.session in kinds else kinds_of(known, [above])
        head = above
    return head


def _told_of(known: Known, limit: int) -> list[Head]:
    """The sessions last active that are shown in lists."""
    most = limit
    while True:
        heads = _last_active(known, most)
        kinds = kinds_of(known, heads)
        shown = [head for head in heads if kinds[head.session] not in (LEARNING, SCHEDULE)]
        if len(shown) >= limit or len(heads) < most:
            return shown[:limit]
        most *= 2


def kinds_of(known: Known, heads: Iterable[Head]) -> dict[str, str]:
    """What kind of session each is."""
    names = {head.session: head for head in heads}
    kinds = dict.fromkeys(names, CHAT)
    if known.connection:
        rows = known.connection.execute(KINDS, [list(names), *span(names.values())]).fetchall()
        kinds |= dict(rows)
    opened = (record for record in known.tail.records(names) if record.fact.get("fact") == "Opened")
    kinds |= {record.session: str(record.fact.get("kind", CHAT)) for record in opened}
    return kinds


def _last_active(known: Known, limit: int, notebook: str | None = None) -> list[Head]:
    heads = [head for head in known.tail.heads().values() if notebook in {None, head.notebook}]
    if known.connection:
        given = [_told_or_gone(known), notebook, notebook, limit]
        heads.extend(map(Head._make, known.connection.execute(HEADS, given).fetchall()))
    return sorted(heads, key=lambda head: (head.last, head.session), reverse=True)[:limit]


def _told_or_gone(known: Known) -> list[str]:
    """Sessions of which the database is not to be asked: the tail knows them better, or they are deleted."""
    return sorted({*known.tail.heads(), *known.tail.deleted})


def bring_facts(connection: DuckDBPyConnection, known: Known, heads: list[Head]) -> None:
    """Have a table ``facts`` hold the facts of these sessions, wherever they are."""
    names = [head.session for head in heads]
    database.bring(connection, known.tail.records(names))
    if known.connection is None:
        connection.execute(FACTS_OF_TAIL)
        return
    connection.execute(FACTS, [*span(heads), names])


def span(heads: Iterable[Head]) -> tuple[int, int]:
    """Among which numbers the indexed facts of these are."""
    numbers = [n for head in heads if head.first_number != NOTHING for n in (head.first_number, head.last_number)]
    return min(numbers, default=NOTHING), max(numbers, default=NOTHING)
