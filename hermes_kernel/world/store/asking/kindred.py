"""A whole lineage at once: every session of it, of which kind it is, and in which it goes on. No session is read for
that."""

from __future__ import annotations

from typing import NamedTuple

from hermes_kernel.world.store.asking.hand import Hand, Known
from hermes_kernel.world.store.asking.kin import Kin
from hermes_kernel.world.store.asking.listing import kinds_of, span
from hermes_kernel.world.store.places import explaining
from hermes_kernel.world.store.reading import Home
from hermes_kernel.world.store.threads import Head

FURTHER = """
SELECT session, max(body->>'session_id') FROM store.facts
WHERE kind = 'Continued' AND session IN (SELECT unnest(?::VARCHAR[]))
  AND (number BETWEEN ? AND ? OR number >= (SELECT facts FROM store.indexed)) GROUP BY session
"""


class Kinsman(NamedTuple):
    """One session of a lineage. ``further`` is the one in which it goes on since it was compressed, or empty."""

    head: Head
    kind: str
    further: str


def kindred(home: Home, session: str) -> tuple[Kinsman, ...]:
    """The session and all its kin that are there. A parent that was deleted still joins its children.

    Raises:
        StoreError: the store cannot be read now.
    """
    with explaining(home.places), Hand(home).reach() as known:
        kin = Kin(known.connection, known.tail.heads())
        origin = kin.about([session])[session].root
        heads = [head for head in kin.members([origin])[origin] if head.session not in known.tail.deleted]
        kinds, further = kinds_of(known, heads), _further(known, heads)
    return tuple(Kinsman(head, kinds[head.session], further.get(head.session, "")) for head in heads)


def _further(known: Known, heads: list[Head]) -> dict[str, str]:
    """The sessions in which these go on."""
    names = [head.session for head in heads]
    found: dict[str, str] = {}
    if known.connection:
        found |= dict(known.connection.execute(FURTHER, [names, *span(heads)]).fetchall())
    told = (record for record in known.tail.records(names) if record.fact.get("fact") == "Continued")
    return found | {record.session: str(record.fact.get("session_id", "")) for record in told}
