"""Sessions that go for good. What ``retired.json`` names is gone for every reader at once; the database follows in one
transaction, or with the next fold where a crash came between.

A journal whose writer lives keeps its lines until it ends; they are never folded or shown again.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_kernel.world.store import database
from hermes_kernel.world.store.fold import fold
from hermes_kernel.world.store.locks import Busy, held
from hermes_kernel.world.store.places import StoreError, explaining
from hermes_kernel.world.store.reading import Home, everything
from hermes_kernel.world.store.retention.forgetting import forget
from hermes_kernel.world.store.retention.retired import retire_sessions
from hermes_kernel.world.store.views import VIEWS

if TYPE_CHECKING:
    from hermes_kernel.world.store.sources import Shared
    from hermes_kernel.world.store.store import Store

PATIENCE = 30.0  # seconds for the lock: a person waits, and a fold ends within that
AT_ONCE = 100  # sessions deleted together; each is claimed, and a claim is an open file

STALE = """
SELECT session FROM everything GROUP BY session
HAVING max(t) < ? AND NOT (? AND count(*) FILTER (kind = 'Titled') > 0)
   AND count(*) FILTER (kind = 'Opened' AND (body->>'kind') IN ('learning', 'schedule')) = 0
ORDER BY max(t), session
"""
FACTS = "CREATE TEMP TABLE facts AS SELECT DISTINCT ON (uid) * FROM everything WHERE session IN (SELECT unnest(?))"
LEAVING = """
SELECT s.id, s.title, epoch(s.active), coalesce(m.messages, 0), f.bytes FROM sessions s
LEFT JOIN (SELECT session, count(*) AS messages FROM messages GROUP BY session) m ON m.session = s.id
JOIN (SELECT session, sum(strlen(CAST(body AS VARCHAR)))::BIGINT AS bytes FROM facts GROUP BY session) f
    ON f.session = s.id
ORDER BY s.active, s.id
"""


@dataclass(frozen=True, slots=True)
class Leaving:
    """A session that goes, or would. ``active`` is when it last was, in seconds since 1970-01-01 UTC; ``messages`` are
    those that stand, ``bytes`` what its facts take as JSON."""

    id: str
    title: str
    active: float
    messages: int
    bytes: int


def stale(home: Home, before: float, *, keep_titled: bool = False) -> list[str]:
    """The sessions in which nothing happened since the time `before`, the oldest first. Those that hold what was learnt
    or scheduled have no age: without them the history of memory and skills would have no beginning, and jobs be gone.

    Raises:
        StoreError: the store cannot be read now.
    """
    with explaining(home.places), everything(home) as connection:
        return [session for (session,) in connection.execute(STALE, [before, keep_titled]).fetchall()]


def leaving(home: Home, sessions: Sequence[str]) -> list[Leaving]:
    """What is there of `sessions`, those last active long ago first.

    Raises:
        StoreError: the store cannot be read now.
    """
    with explaining(home.places), everything(home) as connection:
        connection.execute(FACTS, [list(sessions)])
        connection.execute(VIEWS)
        return [Leaving(*row) for row in connection.execute(LEAVING).fetchall()]


def delete(store: Store, sessions: Sequence[str], now: float, *, spare_busy: bool = False) -> list[str]:
    """Delete sessions with everything that was kept of them, here and in a store that is shared. Their branches stay.
    Gives those deleted: all of them, or with ``spare_busy`` all but those that a process is in.

    Raises:
        StoreError: a process, which the text names, is in one of them; or others fold or hold the database open; or the
            shared store is away. Of a hundred sessions, all are deleted or none.
    """
    gone: list[str] = []
    for first in range(0, len(sessions), AT_ONCE):
        with explaining(store.home.places), ExitStack() as claims:
            some = [each for each in sessions[first : first + AT_ONCE] if _claimed(store, each, claims, spare_busy)]
            _delete(store.home, some, now)
            gone += some
    return gone


def _claimed(store: Store, session: str, claims: ExitStack, spare_busy: bool) -> bool:  # noqa: FBT001 - ours alone
    try:
        claims.enter_context(store.claim(session))
    except StoreError:
        if not spare_busy:
            raise
        return False
    return True


def _delete(home: Home, sessions: Sequence[str], now: float) -> None:
    """First everything is folded, for an offset that has passed a line is never before it again."""
    folded = fold(home.places, home.shared, PATIENCE)
    if folded.waiting:
        raise StoreError(f"nothing was deleted: {folded.waiting}")
    if home.shared:
        _delete_there(home.shared, sessions, now)
    try:
        with held(home.places.lock, PATIENCE):
            retire_sessions(home.places, frozenset(sessions))
            if home.places.database.exists():
                with database.writing(home.places.database) as connection:
                    forget(connection, home.places)
    except Busy:
        raise StoreError("another process is folding: try again") from None
    for session in sessions:
        _remove_results(home, session)


def _delete_there(there: Shared, sessions: Sequence[str], now: float) -> None:
    for session in sessions:
        there.delete(session, now)


def _remove_results(home: Home, session: str) -> None:
    """The files with what was too long for a message."""
    from hermes_kernel.world.tools.keeping import safe

    shutil.rmtree(home.places.home / "results" / safe(session), ignore_errors=True)
