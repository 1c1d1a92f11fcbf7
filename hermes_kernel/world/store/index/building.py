"""The index of the database, made from its facts alone and brought up to date in portions, each a transaction.

Whatever has not been indexed yet is read as a tail is, so it is found all the same.
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and our own words; what others wrote is a parameter
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.events import Asked, Final, Kept
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.search.passages import STEPS, Hidden, Telling, findable, tell
from hermes_kernel.core.search.words import row
from hermes_kernel.world.store import threads
from hermes_kernel.world.store.index import postings
from hermes_kernel.world.store.index.postings import SHAPE, Shape
from hermes_kernel.world.store.records import understood
from hermes_kernel.world.store.threads import NOTHING, Head

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PORTION = 4096  # facts at a time: readers wait for a second at most, on a slow machine

NEXT = """
SELECT number, session, n, t, kind, body FROM store.facts
WHERE number >= (SELECT facts FROM store.indexed) ORDER BY number LIMIT ?
"""
# Of sessions that go on: what the place of their next fact depends on.
BEFORE = f"""
SELECT f.number, f.session, f.n, f.t, f.kind, f.body
FROM store.facts f JOIN (SELECT unnest(?::VARCHAR[]) AS session, unnest(?::BIGINT[]) AS since) r USING (session)
WHERE f.number BETWEEN ? AND ? AND f.number < (SELECT facts FROM store.indexed)
  AND (f.n >= r.since OR f.kind IN ({", ".join(f"'{kind.__name__}'" for kind in STEPS)}))
ORDER BY f.session, f.n, f.t, f.uid
"""
PASSAGES = f"INSERT INTO store.passages SELECT {', '.join(['unnest(?)'] * 9)}"
OF_SESSIONS = "SELECT mid FROM store.passages WHERE session IN (SELECT unnest(?::VARCHAR[]))"
HIDDEN = "SELECT mid FROM store.passages WHERE session = ? AND n >= ? AND role <> 'title'"


class Fact(NamedTuple):
    """One fact with its place in the database and in its session; one of a later version of this program is None."""

    number: int
    session: str
    n: int
    t: float
    fact: Kept | None


class Said(NamedTuple):
    """A passage, the number of the fact that has its text, and how many characters there come before it."""

    passage: Passage
    number: int
    skipped: int = 0


@dataclass(slots=True)
class Story:
    """One session as its facts are told one by one: what they add to what the database has of it."""

    head: Head
    telling: Telling
    facts: dict[int, Fact] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)

    def remind(self, fact: Fact) -> None:
        """A fact that is indexed already."""
        self.facts[fact.n] = fact
        if fact.fact is not None:
            self.telling, _ = tell(self.telling, fact.n, fact.t, fact.fact)

    def go_on(self, fact: Fact) -> None:
        """A fact that is not."""
        self.facts[fact.n] = fact
        self.head = threads.told(self.head, fact.n, fact.t, fact.fact, fact.number)
        if fact.fact is None:
            return
        self.telling, news = tell(self.telling, fact.n, fact.t, fact.fact)
        for piece in news:
            match piece:
                case Passage():
                    if findable(piece) and not self.telling.beside:
                        self.said.append(_placed(piece, self.facts[piece.n]))
                case Hidden():
                    self._undo(piece)

    def _undo(self, hidden: Hidden) -> None:
        """What was said from there on does not stand; without any turn, the first prompt is no name any more."""
        self.hidden.append(hidden)
        self.said = [each for each in self.said if each.passage.n < hidden.since or each.passage.role == "title"]
        if not self.telling.starts:
            prompts = (fact.fact.text for fact in self.facts.values() if isinstance(fact.fact, Asked))
            self.head = threads.unnamed(self.head, prompts)


def catch_up(connection: DuckDBPyConnection, most: int = PORTION, shape: Shape = SHAPE) -> int:
    """Index the next `most` facts; how many there were. The database is attached as ``store``, to be written."""
    new = unindexed(connection, most)
    if not new:
        return 0
    connection.execute("BEGIN")
    stories, late = resumed(connection, firsts(new))
    again = whole(connection, late)
    _drop(connection, passages_of(connection, late))
    for fact in sorted((*again, *new), key=lambda fact: (fact.session, fact.n, fact.t)):
        stories[fact.session].go_on(fact)
    _drop(connection, undone(connection, (hidden for story in stories.values() for hidden in story.hidden)))
    said = sorted((said for story in stories.values() for said in story.said), key=lambda said: said.number)
    _keep(connection, said, shape)
    threads.keep(connection, [story.head for story in stories.values()])
    connection.execute("UPDATE store.indexed SET facts = ?", [new[-1].number + 1])
    connection.execute("COMMIT")
    return len(new)


def unindexed(connection: DuckDBPyConnection, most: int) -> list[Fact]:
    """The next `most` facts of the database that are not in its index."""
    return [_fact(row) for row in connection.execute(NEXT, [most]).fetchall()]


def forget(connection: DuckDBPyConnection, sessions: Sequence[str]) -> None:
    """Nothing of these sessions is in the index any more, not even a word. Within a transaction."""
    _drop(connection, passages_of(connection, sessions))
    threads.drop(connection, sessions)
    connection.execute("DELETE FROM store.units WHERE id NOT IN (SELECT id FROM store.postings)")


def resumed(connection: DuckDBPyConnection, first: Mapping[str, int]) -> tuple[dict[str, Story], set[str]]:
    """Sessions as the index has them, given the place of the first fact that is new in each; and those that must be
    told from the beginning again, of which nothing is told yet, because that place is among those the index has."""
    heads = threads.known(connection, first)
    late = {session for session, head in heads.items() if first[session] <= head.latest}
    stories = {
        session: Story(Head(session) if session in late else heads.get(session, Head(session)), Telling(session))
        for session in first
    }
    going_on = [head for session, head in heads.items() if session not in late]
    for fact in _before(connection, going_on, [head.asked for head in going_on]):
        stories[fact.session].remind(fact)
    return stories, late


def whole(connection: DuckDBPyConnection, sessions: Iterable[str]) -> list[Fact]:
    """All facts of some sessions that are in the index."""
    heads = list(threads.known(connection, sessions).values())
    return _before(connection, heads, [NOTHING] * len(heads))


def passages_of(connection: DuckDBPyConnection, sessions: Iterable[str]) -> list[int]:
    """The passages of some sessions that are in the index."""
    wanted = sorted(sessions)
    return [mid for (mid,) in connection.execute(OF_SESSIONS, [wanted]).fetchall()] if wanted else []


def undone(connection: DuckDBPyConnection, hidden: Iterable[Hidden]) -> list[int]:
    """The passages of the index that do not stand any more since these were told."""
    found = (connection.execute(HIDDEN, [each.session, each.since]).fetchall() for each in hidden)
    return [mid for rows in found for (mid,) in rows]


def firsts(facts: Iterable[Fact]) -> dict[str, int]:
    """The lowest place that some facts have in each of their sessions."""
    first: dict[str, int] = {}
    for fact in facts:
        first[fact.session] = min(fact.n, first.get(fact.session, fact.n))
    return first


def _before(connection: DuckDBPyConnection, heads: Sequence[Head], since: Sequence[int]) -> list[Fact]:
    """Indexed facts of some sessions that shape what follows: all from a place on, and the steps before it."""
    if not heads:
        return []
    span = [min(head.first_number for head in heads), max(head.last_number for head in heads)]
    rows = connection.execute(BEFORE, [[head.session for head in heads], list(since), *span]).fetchall()
    return [_fact(row) for row in rows]


def _fact(row: tuple[int, str, int, float, str, str]) -> Fact:
    number, session, n, t, kind, body = row
    return Fact(number, session, n, t, understood({"fact": kind, **json.loads(body)}))


def _placed(passage: Passage, fact: Fact) -> Said:
    """Where the text of a passage is. The last words of a turn are told without what its replies had said."""
    skipped = len(fact.fact.text) - len(passage.text) if isinstance(fact.fact, Final) else 0
    return Said(passage, fact.number, skipped)


def _keep(connection: DuckDBPyConnection, said: Sequence[Said], shape: Shape) -> None:
    if not said:
        return
    ((mid,),) = connection.execute("SELECT passages FROM store.indexed").fetchall()
    lines = [(mid + place, *row(each.passage.text)) for place, each in enumerate(said)]
    rows = [
        (mid, each.number, each.skipped, told.session, told.n, told.t, told.role, told.tool, size)
        for (mid, _, size), each in zip(lines, said, strict=True)
        for told in (each.passage,)
    ]
    connection.execute(PASSAGES, [list(column) for column in zip(*rows, strict=True)])
    connection.execute("UPDATE store.indexed SET passages = ?", [mid + len(said)])
    postings.add(connection, lines, shape)


def _drop(connection: DuckDBPyConnection, mids: Sequence[int]) -> None:
    if mids:
        span = f"mid BETWEEN {min(mids)} AND {max(mids)} AND mid IN (SELECT unnest(?::INTEGER[]))"
        connection.execute(f"DELETE FROM store.postings WHERE {span}", [list(mids)])
        connection.execute(f"DELETE FROM store.passages WHERE {span}", [list(mids)])
