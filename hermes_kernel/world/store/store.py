"""The sessions of one home, durable and shared: `append` goes to this process's journal, `recall` reads database and
journals as one, `fold` moves the second into the first.

Many processes may have a store on one home; none waits for another to append.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Kept, Opened
from hermes_kernel.core.learnt import LEARNT, Dated
from hermes_kernel.core.plain import dump
from hermes_kernel.core.redact import redact_plain
from hermes_kernel.core.search.found import Found, Passage
from hermes_kernel.core.search.passages import passages
from hermes_kernel.core.search.query import Query, parse
from hermes_kernel.core.text import scrub
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.apart import Apart
from hermes_kernel.world.store.asking.counting import Counting
from hermes_kernel.world.store.asking.hand import Hand
from hermes_kernel.world.store.asking.kin import Relatives, family, relatives
from hermes_kernel.world.store.asking.learnt import learnt
from hermes_kernel.world.store.asking.listing import SessionRow, find, ids, latest, newest
from hermes_kernel.world.store.asking.searching import search
from hermes_kernel.world.store.asking.spending import By, UsageRow, since, spent
from hermes_kernel.world.store.ends import Ends
from hermes_kernel.world.store.fold import Folded, fold
from hermes_kernel.world.store.journal import Journal
from hermes_kernel.world.store.locks import Claim, forget_in_child
from hermes_kernel.world.store.places import NoSession, Places, explaining
from hermes_kernel.world.store.reading import Home, everything, records
from hermes_kernel.world.store.records import Record, encode, facts, understood
from hermes_kernel.world.store.sources import Shared
from hermes_kernel.world.store.taking import Present, portions, present
from hermes_kernel.world.store.views_beside import ALL_VIEWS
from hermes_kernel.world.zone import LOCAL

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Store:
    """`ports.Archive` on disk. Safe from any thread; a forked child goes on with a journal of its own.

    Whatever the disk refuses is a `StoreError`.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Clock | None = None,
        ids: Callable[[], str] = fresh_id,
        shared: Shared | None = None,
        zone: tzinfo = LOCAL,
    ) -> None:
        """``ids`` gives a text of at least 12 letters and digits, different each time; ``shared`` is a store that this
        home shares with others, ``zone`` the one of dates that are searched for. Nothing is made or read yet."""
        self._places = Places(home)
        self._home = Home(self._places, shared)
        self._hand = Hand(self._home)
        self._clock, self._zone = clock or SystemClock(), zone
        self._journal = Journal(self._places.journals, ids, tag=shared.tag if shared else "")
        self._apart = Apart(home, self._clock.elapsed, shared.url if shared else "")
        self._mutex = threading.Lock()
        self._ends = Ends(self._clock.now, self._journal.mint)
        forget_in_child(self)

    @property
    def home(self) -> Home:
        """Where the facts are, for who reads, deletes or compacts them."""
        return self._home

    def append(self, session_id: str, *events: Kept) -> None:
        with explaining(self._places):
            self._look(session_id, events[0])
            dumped = [redact_plain(dump(event)) for event in events]
            with self._mutex:
                told = self._ends.place(session_id, events, dumped)
                self._journal.append(b"".join(map(encode, told)))
            if self._home.shared:
                self._home.shared.append(told)

    def take(self, told: Sequence[Record]) -> None:
        """Write facts that have their uids and places already. On disk when it returns; whoever holds the claims of
        their sessions has looked, in `present`, which are here. A fact that is here nevertheless changes nothing.

        Raises:
            StoreError: the disk is full or the home is read-only; what was written of `told` may be taken again.
        """
        with explaining(self._places):
            told = [replace(record, fact=redact_plain(record.fact)) for record in told]
            with self._mutex:
                for lines in portions(told):
                    self._journal.append(lines)
                for session in {record.session for record in told}:
                    self._ends.forget(session)
            if self._home.shared:
                self._home.shared.append(told)

    def present(self, sessions: Sequence[str]) -> Present:
        """What is here of these sessions, fact by fact, and which of them were deleted here."""
        with explaining(self._places):
            return present(self._home, sessions)

    def recall(self, session_id: str) -> list[Kept]:
        """Every kept fact of a session in order, whoever wrote it and wherever it is by now.

        Raises:
            KeyError: there is no such session; the text names the closest ids.
            StoreError: another program holds the database open.
        """
        found = self.records(session_id)
        self._remember(session_id, found)
        return facts(found)

    def records(self, session_id: str) -> list[Record]:
        """As `recall`, each fact with its place and time, also those of a later version of this program."""
        with explaining(self._places):
            found = records(self._home, session_id)
            if not found:
                raise NoSession(session_id, ids(self._hand))
        return found

    def claim(self, session_id: str) -> ExitStack:
        """The right to act on a session, until closed or dead; in every home that shares the store. A context manager.

        Raises:
            InUse: another process, named in the text, acts on it.
            StoreError: the home takes no lock file, or the shared store cannot be used.
        """
        with explaining(self._places), ExitStack() as claims:
            claims.enter_context(Claim(self._places.claim(session_id), session_id))
            if self._home.shared:
                claims.enter_context(self._home.shared.claim(session_id))
            return claims.pop_all()

    def check(self, session_id: str) -> None:
        """Raises `InUse`: a claim was lost with the line to the shared store, and another process took it."""
        if self._home.shared:
            self._home.shared.check(session_id)

    def sessions(self, limit: int = 20) -> list[SessionRow]:
        """The sessions last active, newest first."""
        with explaining(self._places):
            return newest(self._hand, limit)

    def usage(self, days: int | None = None, by: By = "kind") -> tuple[UsageRow, ...]:
        """What all models have used in all sessions, nothing twice; in the last `days` days, today (in UTC) included.
        Raises `StoreError`: the database is held open."""
        with self.connect() as connection:
            return spent(connection, by, since(self._clock.now(), days))

    def latest(self, notebook: str | None = None) -> str | None:
        """The id of the conversation last active, in one notebook or in any; None when there is none. Where that was a
        subagent or a row of a map, it is the one they worked for."""
        with explaining(self._places):
            return latest(self._hand, notebook)

    def learnt(self, kinds: Collection[type] = LEARNT, since: float = 0) -> tuple[Dated, ...]:
        """The facts of these kinds (of `core.learnt` and `core.planned`) at or after `since` (seconds since 1970-01-01
        UTC), in the order of time; those of a later version are passed over. Raises `StoreError`: the database is held
        open."""
        with explaining(self._places):
            return learnt(self._hand, kinds, since)

    def search(self, query: str | Query, limit: int = 10) -> Found:
        """The best `limit` threads. While another program holds the database open, only what is not folded yet is
        searched, and ``note`` says so.

        Raises:
            QueryError: a filter has a value that means nothing.
            StoreError: the database is damaged or of a newer format.
        """
        asked = query if isinstance(query, Query) else parse(query, now=self._clock.now(), zone=self._zone)
        with explaining(self._places):
            return search(self._hand, asked, limit)

    def passages(self, session_id: str) -> tuple[Passage, ...]:
        """The messages of a session that stand, in order.

        Raises:
            KeyError: there is no such session; the text names the closest ids.
            StoreError: another program holds the database open.
        """
        told = self.records(session_id)
        read = ((record.n, record.t, understood(record.fact)) for record in told)
        return passages(session_id, ((n, t, fact) for n, t, fact in read if fact is not None))

    def find(self, text: str) -> str:
        """The id of the session that `text` names: an id, four letters or more of its beginning, its exact title, or
        ``last`` for the one last active.

        Raises:
            KeyError: there is none, or more than one; the text names those it could be.
        """
        with explaining(self._places):
            return find(self._hand, scrub(text))

    def relatives(self, session_id: str) -> Relatives:
        """What is known of a session and of those right above and below it.

        Raises:
            StoreError: another program holds the database open.
        """
        with explaining(self._places):
            return relatives(self._hand, session_id)

    def family(self, session_id: str) -> frozenset[str]:
        """A session, all it came from and all that was made from these, as far as they are there.

        Raises:
            StoreError: another program holds the database open.
        """
        with explaining(self._places):
            return family(self._hand, session_id)

    @contextmanager
    def counting(self) -> Iterator[Counting]:
        """What the facts add up to at this moment, whoever wrote them. Nobody folds while it is open.

        Raises:
            StoreError: another program holds the database open, or it is damaged.
        """
        with explaining(self._places), self._hand.reach() as known:
            yield Counting(known)

    @contextmanager
    def connect(self) -> Iterator[DuckDBPyConnection]:
        """A DuckDB connection, for reading, in which the views (docs/store.md has them all) cover everything there is
        at this moment. Nobody folds while it is open.

        Raises:
            StoreError: another program holds the database open for writing.
        """
        with explaining(self._places), everything(self._home) as connection:
            connection.execute("CREATE TEMP VIEW facts AS FROM everything")
            connection.execute(ALL_VIEWS)
            yield connection

    def fold(self) -> Folded:
        """Move what the journals hold into the database. Safe in a background thread; put off, and ``waiting`` says so,
        while others are at it.

        Raises:
            StoreError: the disk is full or read-only, or the database is damaged or of a newer format. The journals
                still hold every fact.
        """
        with explaining(self._places):
            return fold(self._places, self._home.shared)

    def fold_apart(self) -> None:
        """`fold`, soon, in a process of its own: for a kernel that must not grow, wait or fall with the database."""
        self._apart.fold()

    def close(self) -> None:
        """Leave this process's journal, and have done what `fold_apart` still owes. The store can be used again."""
        with self._mutex:
            self._journal.close()
        if self._home.shared:
            self._home.shared.close()
        self._apart.close()

    @property
    def waiting(self) -> str:
        """One line while a shared store cannot be had, with how many facts wait for it; else nothing."""
        return self._home.shared.waiting if self._home.shared else ""

    def forget(self) -> None:
        """In a forked child: whoever held the mutex is not here to let go of it."""
        self._mutex = threading.Lock()

    def _look(self, session_id: str, first: Kept) -> None:
        """Know where the session's next fact goes. One that is only now opened has no earlier facts: the database need
        not be woken for it."""
        self.check(session_id)
        if session_id not in self._ends:
            self._remember(session_id, [] if isinstance(first, Opened) else records(self._home, session_id))

    def _remember(self, session_id: str, found: list[Record]) -> None:
        with self._mutex:
            self._ends.remember(session_id, found)
