"""Lists of sessions. Only the facts of those listed are unpacked, however many there are."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.world.store.reading import Home, everything
from hermes_kernel.world.store.views import VIEWS

NEWEST = """
SELECT session FROM everything GROUP BY session ORDER BY max(t) DESC, session DESC LIMIT ?
"""
FACTS_OF_NEWEST = """
CREATE TEMP TABLE facts AS SELECT DISTINCT ON (uid) * FROM everything
WHERE session IN (SELECT session FROM everything GROUP BY session ORDER BY max(t) DESC, session DESC LIMIT ?)
"""
NEWEST_OF_NOTEBOOK = """
SELECT session FROM everything
WHERE session IN (SELECT session FROM everything WHERE kind = 'Opened' AND (body->>'notebook') = ?)
GROUP BY session ORDER BY max(t) DESC, session DESC LIMIT 1
"""
ROWS = """
SELECT id, parent, kind, title, notebook, model, epoch(started), epoch(ended), outcome, calls, tokens, cost,
       epoch(active)
FROM sessions ORDER BY active DESC, id DESC
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of a list of sessions. Times are seconds since 1970-01-01 UTC; ``ended`` is None and ``outcome`` empty
    while a turn is open; ``title`` falls back to the first prompt; ``cost`` is in US dollars."""

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


def newest(home: Home, limit: int) -> list[SessionRow]:
    """The sessions last active, newest first."""
    with everything(home) as connection:
        connection.execute(FACTS_OF_NEWEST, [limit])
        connection.execute(VIEWS)
        return [SessionRow(*row) for row in connection.execute(ROWS).fetchall()]


def latest(home: Home, notebook: str | None) -> str | None:
    """The session last active, in one notebook or in any."""
    question, given = (NEWEST, 1) if notebook is None else (NEWEST_OF_NOTEBOOK, notebook)
    with everything(home) as connection:
        rows = connection.execute(question, [given]).fetchall()
    return rows[0][0] if rows else None


def ids(home: Home) -> list[str]:
    """Every session there is."""
    with everything(home) as connection:
        return [row[0] for row in connection.execute("SELECT DISTINCT session FROM everything").fetchall()]
