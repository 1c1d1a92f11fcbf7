"""Sessions and those they were branched or compressed from, as far as a question needs to know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.search.finding import About, root
from hermes_kernel.world.store import threads
from hermes_kernel.world.store.asking.hand import Hand
from hermes_kernel.world.store.threads import Head

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHILDREN = "SELECT session FROM store.threads WHERE parent IN (SELECT unnest(?::VARCHAR[]))"


class Relatives(NamedTuple):
    """``own`` is the session itself. ``parent`` has an id alone where it is not there any more, and none where there
    never was one. Of ``children``, the one last active stands last."""

    own: Head
    parent: Head
    children: tuple[Head, ...]


def relatives(hand: Hand, session: str) -> Relatives:
    """What is known of `session` and of the sessions right above and below it.

    Raises:
        StoreError: the store cannot be read now.
    """
    with hand.reach() as known:
        kin = Kin(known.connection, known.tail.heads())
        own = kin.heads([session]).get(session, Head(session))
        found = kin.heads({own.parent, *kin.children({session})} - known.tail.deleted)
    children = (head for head in found.values() if head.parent == session)
    in_order = tuple(sorted(children, key=lambda head: (head.last, head.session)))
    return Relatives(own, found.get(own.parent, Head(own.parent)), in_order)


def family(hand: Hand, session: str) -> frozenset[str]:
    """A session and all its kin that are there. A parent that was deleted still joins its children.

    Raises:
        StoreError: the store cannot be read now.
    """
    with hand.reach() as known:
        kin = Kin(known.connection, known.tail.heads())
        origin = kin.about([session])[session].root
        members = frozenset(head.session for head in kin.members([origin])[origin])
        return (members - known.tail.deleted) | {session}


class Kin:
    """What the tail and the database, where there is one, know of sessions, asked for as it is needed."""

    def __init__(self, connection: DuckDBPyConnection | None, tail: Mapping[str, Head]) -> None:
        self._connection = connection
        self._tail = tail
        self._heads: dict[str, Head] = dict(tail)
        self._asked: set[str] = set(tail)

    def about(self, sessions: Iterable[str]) -> dict[str, About]:
        """What a search tells of these sessions."""
        wanted = set(sessions)
        self._meet(wanted)
        parents = {session: head.parent for session, head in self._heads.items()}
        heads = {session: self._heads.get(session, Head(session)) for session in wanted}
        return {
            session: About(root(parents, session), head.title, head.notebook, head.model)
            for session, head in heads.items()
        }

    def heads(self, sessions: Iterable[str]) -> dict[str, Head]:
        """Those of `sessions` that are known."""
        wanted = set(sessions)
        self._meet(wanted)
        return {session: self._heads[session] for session in wanted & self._heads.keys()}

    def members(self, roots: Iterable[str]) -> dict[str, list[Head]]:
        """The sessions that are known whose lineages began with these."""
        wanted = set(roots)
        below = new = set(wanted)
        while new:
            new = self.children(new) - below
            below = below | new
        about = self.about(below)
        members: dict[str, list[Head]] = {each: [] for each in wanted}
        for session in below:
            if (origin := about[session].root) in wanted and session in self._heads:
                members[origin].append(self._heads[session])
        return members

    def children(self, parents: set[str]) -> set[str]:
        """The sessions right below these."""
        told = {session for session, head in self._tail.items() if head.parent in parents}
        if self._connection is None:
            return told
        rows = self._connection.execute(CHILDREN, [sorted(parents)]).fetchall()
        return told.union(session for (session,) in rows)

    def _meet(self, sessions: set[str]) -> None:
        """Know these and everything above them."""
        above = sessions
        while above:
            if self._connection and (new := above - self._asked):
                self._asked |= new
                self._heads.update(threads.known(self._connection, new))
            met = {self._heads[session].parent for session in above if session in self._heads}
            above = {parent for parent in met if parent} - sessions
            sessions = sessions | above
