"""What was learnt, out of everything that was said: the database gives the facts of some kinds, the tail the rest."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.learnt import Dated, Lesson
from hermes_kernel.world.store.asking.hand import Hand
from hermes_kernel.world.store.records import Record, understood

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from hermes_kernel.core.plain import Plain

FACTS = """
SELECT t, session, n, kind, body FROM store.facts
WHERE kind IN (SELECT unnest(?::VARCHAR[])) AND t >= ? AND session NOT IN (SELECT unnest(?::VARCHAR[]))
"""


class _Placed(NamedTuple):
    """A fact as plain data, where it stands in time and among those of the same moment."""

    t: float
    session: str
    n: int
    plain: Plain


def learnt(hand: Hand, kinds: Collection[type], since: float) -> tuple[Dated, ...]:
    """The facts of these kinds at or after `since`, in the order of time, whoever wrote them.

    Raises:
        StoreError: the store cannot be read now.
    """
    names = sorted(kind.__name__ for kind in kinds)
    with hand.reach() as known:
        found = [_placed(record) for record in known.tail.everything() if record.fact.get("fact") in names]
        if known.connection:
            found.extend(_stored(known.connection, names, since, sorted(known.tail.deleted)))
    in_order = sorted(found, key=lambda each: each[:3])
    return tuple(_dated(each for each in in_order if each.t >= since))


def _stored(connection: DuckDBPyConnection, names: list[str], since: float, deleted: list[str]) -> Iterator[_Placed]:
    rows = connection.execute(FACTS, [names, since, deleted]).fetchall()
    bodies = json.loads(f"[{','.join(body for *_, body in rows)}]")  # at once: thousands of small texts are slow
    for (t, session, n, kind, _), body in zip(rows, bodies, strict=True):
        body["fact"] = kind
        yield _Placed(t, session, n, body)


def _placed(record: Record) -> _Placed:
    return _Placed(record.t, record.session, record.n, record.fact)


def _dated(found: Iterator[_Placed]) -> Iterator[Dated]:
    """Those that this version of the program understands."""
    for each in found:
        fact = understood(each.plain)
        if isinstance(fact, Lesson):
            yield Dated(each.t, fact)
