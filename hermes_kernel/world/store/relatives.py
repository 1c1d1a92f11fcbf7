"""A session among those it came from and those made from it, without reading any of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hermes_kernel.world.store import threads
from hermes_kernel.world.store.hand import Hand, Known
from hermes_kernel.world.store.threads import Head

CHILDREN = "SELECT session FROM store.threads WHERE parent = ?"


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
        own = _heads(known, [session]).get(session, Head(session))
        below = {name for name, head in known.tail.heads().items() if head.parent == session}
        if known.connection:
            below.update(name for (name,) in known.connection.execute(CHILDREN, [session]).fetchall())
        found = _heads(known, {own.parent, *below} - known.tail.deleted)
    children = (head for head in found.values() if head.parent == session)
    in_order = tuple(sorted(children, key=lambda head: (head.last, head.session)))
    return Relatives(own, found.get(own.parent, Head(own.parent)), in_order)


def _heads(known: Known, sessions: Iterable[str]) -> dict[str, Head]:
    wanted, tail = set(sessions), known.tail.heads()
    stored = threads.known(known.connection, wanted) if known.connection else {}
    return {**stored, **{name: tail[name] for name in wanted & tail.keys()}}
