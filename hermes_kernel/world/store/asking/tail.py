"""What was said and is not in the index yet, ready to be searched. It is read and told once: searching again while
others go on writing costs what they have written since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.search.passages import Hidden, Telling
from hermes_kernel.core.search.rank import Entry
from hermes_kernel.core.search.words import row
from hermes_kernel.world.store import database, threads
from hermes_kernel.world.store.index import building
from hermes_kernel.world.store.index.building import Fact, Story
from hermes_kernel.world.store.journal import journals
from hermes_kernel.world.store.reading import Home
from hermes_kernel.world.store.records import Record, understood
from hermes_kernel.world.store.retention.retired import retired
from hermes_kernel.world.store.threads import NOTHING, Head

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ALL = 2**31  # facts
USUAL = 512  # bytes of a fact in a journal
UNINDEXED = "SELECT coalesce(max(number) + 1 - (SELECT facts FROM store.indexed), 0) FROM store.facts"

SEEN = """
SELECT uid FROM store.facts WHERE number BETWEEN ? AND ? AND uid IN (SELECT unnest(?::VARCHAR[]))
"""


class Point(NamedTuple):
    """A state of the database: how far each source is folded, how many facts are indexed, and what is deleted."""

    done: Mapping[str, int]
    indexed: int
    deleted: frozenset[str]


class Tail:
    """The tail of one home. Not for two threads at once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._forget(Point({}, 0, frozenset()))

    def catch_up(self, connection: DuckDBPyConnection | None) -> str:
        """Read what is new since the last time, behind the database attached to `connection`, if there is one. What
        could not be asked, in one line, or nothing."""
        point = _point(connection)._replace(deleted=retired(self._home.places).deleted)
        if point != self._point:
            self._forget(point)
            if connection:
                left = building.unindexed(connection, ALL)
                self._tell(connection, [fact for fact in left if fact.session not in point.deleted])
        unfolded = self._home.unfolded({**point.done, **self._ends})
        self._ends.update((behind.name, behind.end) for behind in unfolded.behind)
        fresh = {record.uid: record for record in unfolded.records if record.uid not in self._uids}
        if fresh:
            self._uids.update(fresh)
            known = _seen(connection, fresh) if connection else set()
            new = [record for uid, record in fresh.items() if uid not in known]
            for record in new:
                self._records.setdefault(record.session, []).append(record)
            self._tell(connection, [_fact(record) for record in new])
        return unfolded.away

    def ahead(self, connection: DuckDBPyConnection) -> int:
        """About how many facts `catch_up` would have to read."""
        point = _point(connection)
        if (point.done, point.indexed) == (self._point.done, self._point.indexed):
            unindexed, known = 0, {**point.done, **self._ends}
        else:
            ((unindexed,),) = connection.execute(UNINDEXED).fetchall()
            known = dict(point.done)
        sizes = ((path.name, _size(path)) for path in journals(self._home.places.journals))
        return int(unindexed) + sum(max(size - known.get(name, 0), 0) for name, size in sizes) // USUAL

    def entries(self) -> Iterator[Entry]:
        """Every message of the tail that stands."""
        for session, story in self._stories.items():
            lines = self._lines.setdefault(session, {})
            for said in story.said:
                passage = said.passage
                if (line := lines.get(passage.n)) is None:
                    line = lines[passage.n] = row(passage.text)
                yield Entry(passage, *line, story.head.notebook, story.head.model)

    def heads(self) -> dict[str, Head]:
        """Every session that the tail has facts of, as it is now."""
        return {session: story.head for session, story in self._stories.items()}

    def hidden(self) -> Iterator[Hidden]:
        """Messages of the index that were undone in the tail."""
        for story in self._stories.values():
            yield from story.hidden

    def records(self, sessions: Iterable[str]) -> list[Record]:
        """The facts of some sessions that are not in the database."""
        return [record for session in sessions for record in self._records.get(session, ())]

    def everything(self) -> Iterator[Record]:
        """Every fact that is not in the database, session by session."""
        for records in self._records.values():
            yield from records

    @property
    def size(self) -> int:
        """How many facts it has read, and keeps."""
        return len(self._uids)

    @property
    def deleted(self) -> frozenset[str]:
        """Sessions of which nothing is shown, whatever the index has of them."""
        return self._point.deleted

    @property
    def retold(self) -> frozenset[str]:
        """Sessions whose messages are all in the tail, whatever the index has of them."""
        return frozenset(self._retold)

    def _forget(self, point: Point) -> None:
        self._point = point
        self._ends: dict[str, int] = {}
        self._uids: set[str] = set()
        self._stories: dict[str, Story] = {}
        self._lines: dict[str, dict[int, tuple[str, int]]] = {}
        self._retold: set[str] = set()
        self._facts: dict[str, list[Fact]] = {}
        self._records: dict[str, list[Record]] = {}

    def _tell(self, connection: DuckDBPyConnection | None, facts: list[Fact]) -> None:
        for fact in facts:
            self._facts.setdefault(fact.session, []).append(fact)
        first = building.firsts(facts)
        late = self._resume(connection, {session: n for session, n in first.items() if session not in self._stories})
        late |= {session for session, n in first.items() if n <= self._stories[session].head.latest}
        again = [fact for session in late for fact in self._facts[session]]
        if connection and late:
            again.extend(building.whole(connection, late))
        for session in late:
            self._retold.add(session)
            self._stories[session] = Story(Head(session), Telling(session))
            self._lines.pop(session, None)
        going_on = [fact for fact in facts if fact.session not in late]
        for fact in sorted((*going_on, *again), key=lambda fact: (fact.session, fact.n, fact.t)):
            self._stories[fact.session].go_on(fact)

    def _resume(self, connection: DuckDBPyConnection | None, first: Mapping[str, int]) -> set[str]:
        """Have the stories of these sessions as the index has them; which of them have to be told again."""
        if connection and first:
            stories, late = building.resumed(connection, first)
            self._stories.update(stories)
            return late
        self._stories.update((session, Story(Head(session), Telling(session))) for session in first)
        return set()


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _point(connection: DuckDBPyConnection | None) -> Point:
    if connection is None:
        return Point({}, 0, frozenset())
    ((indexed,),) = connection.execute("SELECT facts FROM store.indexed").fetchall()
    return Point(database.offsets(connection), indexed, frozenset())


def _seen(connection: DuckDBPyConnection, fresh: Mapping[str, Record]) -> set[str]:
    """Which of these records the database has: a source may give one again."""
    heads = threads.known(connection, {record.session for record in fresh.values()}).values()
    if not heads:
        return set()
    span = [min(head.first_number for head in heads), max(head.last_number for head in heads)]
    return {uid for (uid,) in connection.execute(SEEN, [*span, list(fresh)]).fetchall()}


def _fact(record: Record) -> Fact:
    return Fact(NOTHING, record.session, record.n, record.t, understood(record.fact))
