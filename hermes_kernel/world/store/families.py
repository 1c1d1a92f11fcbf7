"""Which sessions belong together: those a session was branched or compressed from, and those made from it."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_kernel.world.store.reading import Home, everything

PARENTS = "SELECT session, coalesce(body->>'parent', '') FROM everything WHERE kind = 'Opened'"


def family(home: Home, session_id: str) -> frozenset[str]:
    """A session and all its kin that are there. A parent that was deleted still joins its children.

    Raises:
        StoreError: the store cannot be read now.
    """
    with everything(home) as connection:
        parents: dict[str, str] = dict(connection.execute(PARENTS).fetchall())
    root = _root(parents, session_id)
    return frozenset({session_id, *(each for each in parents if _root(parents, each) == root)})


def _root(parents: Mapping[str, str], session: str) -> str:
    """The oldest ancestor, however damaged the line is: one that leads back to itself ends where it began to."""
    seen: list[str] = []
    while session and session not in seen:
        seen.append(session)
        session = parents.get(session, "")
    return min(seen[seen.index(session) :]) if session else seen[-1]
