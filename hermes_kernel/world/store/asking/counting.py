"""What the facts of a home add up to. Columns are read and not bodies wherever that is enough: of a hundred thousand
messages every body takes most of a second, every kind and time a thirtieth of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.tally import Latest
from hermes_kernel.core.messages import Usage
from hermes_kernel.world.store.asking.hand import Known
from hermes_kernel.world.store.records import understood

if TYPE_CHECKING:
    from hermes_kernel.core.events import Kept
    from hermes_kernel.core.plain import Plain

KINDS = """
SELECT kind, count(*), max(t) FROM store.facts
WHERE session NOT IN (SELECT unnest(?::VARCHAR[])) GROUP BY kind
"""
PLACES = """
SELECT kind, max((session, n)) FROM store.facts
WHERE t >= ? AND (kind, t) IN (SELECT (unnest(?::VARCHAR[]), unnest(?::DOUBLE[])))
  AND session NOT IN (SELECT unnest(?::VARCHAR[])) GROUP BY kind
"""
COUNT = "SELECT count(*) FROM store.facts WHERE kind = ? AND session = ? AND n > ?"
TOLD = "SELECT n, kind, body FROM store.facts WHERE session = ? AND n >= ? AND kind IN (SELECT unnest(?::VARCHAR[]))"
BEGUN = """
SELECT session, t FROM store.facts
WHERE number IN (SELECT first_number FROM store.threads WHERE parent = '' AND asked >= 0)
"""
FIRST = "SELECT session, min(t) FROM store.facts WHERE session IN (SELECT unnest(?::VARCHAR[])) GROUP BY session"
TITLED = """
SELECT session, coalesce(body->>'kind', '') FROM store.facts
WHERE kind = 'Opened' AND number IN (SELECT first_number FROM store.threads WHERE regexp_matches(title, ?))
"""
CALLED = """
SELECT count(*) FROM (
    SELECT unnest((body->'calls')::JSON[]) AS call FROM store.facts
    WHERE kind = 'Replied' AND t >= ? AND session NOT IN (SELECT unnest(?::VARCHAR[]))
) WHERE call->>'name' = ?
"""
SPENT = """
SELECT session, kind, body FROM store.facts
WHERE kind IN ('Replied', 'Failed', 'Interrupted', 'Compressed', 'Spent') AND session IN (SELECT unnest(?::VARCHAR[]))
"""


class Counting:
    """Counts what is ``known`` at this moment."""

    def __init__(self, known: Known) -> None:
        self._tail = known.tail
        self._connection = known.connection
        self._gone = sorted(known.tail.deleted)

    def latest(self) -> dict[str, Latest]:
        """Of each kind of fact, by its name."""
        counts = self._asked(KINDS, self._gone)
        kinds, times = [kind for kind, *_ in counts], [t for *_, t in counts]
        places = dict(self._asked(PLACES, min(times, default=0.0), kinds, times, self._gone))
        found = {kind: Latest(count, t, *places[kind]) for kind, count, t in counts}
        for each in self._tail.everything():
            kind = each.fact.get("fact", "")
            found[kind] = found.get(kind, Latest()) + Latest(1, each.t, each.session, each.n)
        return found

    def after(self, kind: str, session: str, n: int = -1) -> int:
        """How many facts of this kind the session has behind its place `n`."""
        here = [each for each in self._tail.records([session]) if each.fact.get("fact") == kind and each.n > n]
        return len(here) + sum(int(count) for (count,) in self._asked(COUNT, kind, session, n))

    def told(self, session: str, kinds: Collection[str], first: int = 0) -> list[tuple[int, Kept]]:
        """The facts of these kinds that the session has from its place `first` on, in order, with their places."""
        found = [(n, _plain(kind, body)) for n, kind, body in self._asked(TOLD, session, first, sorted(kinds))]
        here = (each for each in self._tail.records([session]) if each.n >= first and each.fact.get("fact") in kinds)
        found.extend((each.n, each.fact) for each in here)
        read = ((n, understood(plain)) for n, plain in sorted(found, key=lambda each: each[0]))
        return [(n, fact) for n, fact in read if fact is not None]

    def begun(self, other: Collection[str] = ()) -> tuple[float, ...]:
        """When the conversations began in which something was asked, in order: not what was made from another, such as
        subagents or what goes on after a compression, and none of the sessions in `other`."""
        heads = self._tail.heads()
        stood = {session: t for session, t in self._asked(BEGUN) if session not in self._gone}
        stood |= {each.session: each.t for each in self._tail.everything() if each.fact.get("fact") == "Opened"}
        stood |= dict(self._asked(FIRST, [session for session in heads if session not in stood]))
        no = {session for session, head in heads.items() if head.parent or head.asked < 0}.union(other)
        return tuple(sorted(t for session, t in stood.items() if session not in no))

    def titled(self, titles: Iterable[str]) -> dict[str, str]:
        """The kind of each session whose title begins with one of these."""
        beginnings = tuple(titles)
        pattern = f"^(?:{'|'.join(map(re.escape, beginnings))})"
        found = {session: kind for session, kind in self._asked(TITLED, pattern) if session not in self._gone}
        heads = self._tail.heads()
        for each in self._tail.everything():
            if each.fact.get("fact") == "Opened" and heads[each.session].title.startswith(beginnings):
                found[each.session] = each.fact.get("kind", "")
        return found

    def called(self, tool: str, since: float) -> int:
        """How often models have called this tool at or after `since`, seconds since 1970-01-01 UTC."""
        replies = [
            each.fact for each in self._tail.everything() if each.fact.get("fact") == "Replied" and each.t >= since
        ]
        here = [call for fact in replies for call in fact.get("calls", ()) if call.get("name") == tool]
        return len(here) + sum(int(count) for (count,) in self._asked(CALLED, since, self._gone, tool))

    def spent(self, sessions: Iterable[str]) -> dict[str, Usage]:
        """What the model calls of these sessions have cost, by session; those of others that worked for one apart."""
        wanted = sorted({*sessions} - {*self._gone})
        found = [(session, _plain(kind, body)) for session, kind, body in self._asked(SPENT, wanted)]
        found.extend((each.session, each.fact) for each in self._tail.records(wanted))
        return _added(found)

    def _asked(self, question: str, *given: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(question, list(given)).fetchall() if self._connection else []


def _plain(kind: str, body: str) -> Plain:
    return {**json.loads(body), "fact": kind}


def _added(found: Iterable[tuple[str, Plain]]) -> dict[str, Usage]:
    sums: dict[str, Usage] = {}
    for session, plain in found:
        sums[session] = sums.get(session, Usage()) + _usage(plain)
    return sums


def _usage(plain: Plain) -> Usage:
    """What a fact says that it cost. A reply that says nothing was one call."""
    fact = understood({**plain, "transcript": []} if plain.get("fact") == "Compressed" else plain)
    return getattr(fact, "usage", Usage()) if not getattr(fact, "itemised", False) else Usage()
