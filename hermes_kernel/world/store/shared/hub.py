"""The store that several homes share: what a home appends goes there after its own journal, and a home reads from
there what the others appended. While the server is away nothing waits for it and nothing is lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.locks import forget_in_child
from hermes_kernel.world.store.places import StoreError
from hermes_kernel.world.store.records import Record
from hermes_kernel.world.store.shared.address import Address
from hermes_kernel.world.store.shared.claims import Claims, SharedClaim
from hermes_kernel.world.store.shared.line import Line
from hermes_kernel.world.store.shared.rows import columns, portions, read, record, written
from hermes_kernel.world.store.shared.schema import ready
from hermes_kernel.world.store.sources import Behind

if TYPE_CHECKING:
    from psycopg import Connection

PAGE = 5_000  # records of one answer, at most
AT_ONCE = 500  # records of one delivery, at most: others wait while it is taken
SIZE = 2_000_000  # characters of an answer or a delivery, or one record: a slow line carries them within the time limit
OWED = 10_000  # records kept at hand for a server that is away; the journal has them all

TAKE = "SELECT take(%s::TEXT[], %s::TEXT[], %s::BIGINT[], %s::DOUBLE PRECISION[], %s::TEXT[], %s::TEXT[])"
_BEHIND = """
SELECT seq, uid, session, n, t, kind, body FROM (
    SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
    FROM records WHERE OF_SESSION seq > %s ORDER BY seq LIMIT %s) page
WHERE before < %s ORDER BY seq
"""
BEHIND = _BEHIND.replace("OF_SESSION", "")
BEHIND_OF_SESSION = _BEHIND.replace("OF_SESSION", "md5(session) = md5(%s) AND session = %s AND")


class Hub:
    """`sources.Shared` on a PostgreSQL server. Safe from any thread; nothing is asked before it is needed."""

    def __init__(self, at: Address, *, clock: Clock, ids: Callable[[], str]) -> None:
        """``ids`` gives a text that is different each time, on any host."""
        self._at = at
        self._line = Line(at, clock, self._dialled)
        self._claims = Claims(self._line, ids)
        self._mutex = threading.Lock()
        self._owed: list[Record] = []
        self._kept_back = 0
        forget_in_child(self)

    @property
    def url(self) -> str:
        """What names the store, password and all."""
        return self._at.url

    @property
    def tag(self) -> str:
        """What ends the names of journals whose facts go here."""
        return f"-for-{sha256(f'{self._at}/{self._at.schema}'.encode()).hexdigest()[:8]}"

    @property
    def waiting(self) -> str:
        """One line while the server cannot be had; else nothing."""
        why, count = self._line.why, self._kept_back
        if not why or not count:
            return why
        facts = "1 fact waits" if count == 1 else f"{count:,} facts wait"
        return f"{why}; {facts} in this home and will be sent when it is back"

    def append(self, records: Sequence[Record]) -> None:
        """Records that the journal has just taken, and before them those that are owed. A server that is away or
        refuses costs nothing but the line in `waiting`.

        Raises:
            StoreError: somebody else acts on their session now, or has deleted it.
        """
        with self._mutex:
            owed, self._owed = [*self._owed, *records], []
            try:
                gone = self._sent(owed)
            except StoreError:
                self._kept_back += len(records)
                self._owed = owed if len(owed) <= OWED else []
                return
            self._kept_back = 0
        for session in {each.session for each in records}:
            self._claims.check(session)
            if session in gone:
                raise StoreError(f"session {session!r} was deleted from the shared store: ask in a new session")

    def ship(self, records: Sequence[Record]) -> None:
        """Records of a journal of this home, each at least once; those that are there already add nothing, and those
        of a deleted session are dropped.

        Raises:
            StoreError: they could not be brought now.
        """
        self._sent(records)

    def behind(self, done: Mapping[str, int], session: str | None = None) -> Iterator[Behind]:
        """What homes have put here and `done` does not know, a page at a time, in the order in which it came. Offsets
        are named by the store's own id: another store under the same address begins anew.

        Raises:
            StoreError: the server cannot be had now, or refuses.
        """
        ((store,),) = self._line.ask("SELECT store FROM format")
        name = f"shared:{store}"
        question, wanted = (BEHIND, []) if session is None else (BEHIND_OF_SESSION, [written(session)] * 2)
        seen = done.get(name, 0)
        while rows := self._line.ask(question, [*wanted, seen, PAGE, SIZE]):
            seen = rows[-1][0]
            yield Behind(name, tuple(map(record, rows)), seen)

    def claim(self, session_id: str) -> SharedClaim:
        """Be the one process on any host in this session. While the server is away the claim is the host's alone, and
        is made here as soon as the server is back.

        Raises:
            StoreError: another process, named in the text, is in it; or the server refuses this user.
        """
        return self._claims.claim(session_id)

    def check(self, session_id: str) -> None:
        """Raises:
        StoreError: a claim was lost with the connection, and another process took it."""
        self._claims.check(session_id)

    def delete(self, session_id: str, now: float) -> int:
        """Forget a session for good, here and, when they next read, in all homes. Gives how many facts it had.

        Raises:
            StoreError: the server cannot be had now, or refuses.
        """
        ((had,),) = self._line.ask("SELECT forget(%s, %s)", [written(session_id), now])
        return int(had)

    def deleted(self) -> frozenset[str]:
        """Every session that was deleted in any home.

        Raises:
            StoreError: the server cannot be had now, or refuses.
        """
        return frozenset(read(session) for (session,) in self._line.ask("SELECT session FROM deleted"))

    def close(self) -> None:
        """Bring what is owed, if the server can be had, and hang up; claims end."""
        if self._owed:
            self.append([])
        self._line.close()

    def forget(self) -> None:
        """In a forked child: what is owed is the parent's to bring."""
        self._mutex = threading.Lock()
        self._owed, self._kept_back = [], 0

    def _dialled(self, connection: Connection) -> None:
        ready(connection, self._at.schema)
        self._claims.renew(connection)

    def _sent(self, records: Sequence[Record]) -> set[str]:
        """Gives the sessions among them that were deleted."""
        gone: set[str] = set()
        for some in portions(records, AT_ONCE, SIZE):
            ((found,),) = self._line.ask(TAKE, columns(some))
            gone.update(map(read, found))
        return gone
