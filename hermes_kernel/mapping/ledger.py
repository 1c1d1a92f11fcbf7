"""A map in the store: a session of its own, of which each row's is a child. Ids follow from what is mapped, so that a
map is found again by its facts alone, by whoever runs it next and wherever it was cut off.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from itertools import count, groupby

from hermes_kernel.checks import TITLE
from hermes_kernel.core.events import Asked, Final, Kept, Opened, Outcome, Titled
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import NoSession, Store, StoreError
from hermes_kernel.world.store.records import Record, facts, ordered
from hermes_kernel.world.store.retention.retired import retired

KIND = "map"
ROWS = """
SELECT uid, session, n, t, kind, CAST(body AS VARCHAR) FROM facts
WHERE session IN (SELECT session FROM facts WHERE kind = 'Opened' AND body->>'parent' = ?) ORDER BY session, n
"""
PORTION = 2000  # facts read at once


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two maps the same: digests of what is asked, of whom, and with which tools."""

    template: str
    rows: str
    model: str
    system: str
    tools: str

    @property
    def text(self) -> str:
        """As the map's session keeps them."""
        return json.dumps(asdict(self))

    def differing(self, asked: str) -> list[str]:
        """What is not as in the terms that `asked` ends with."""
        before = json.loads(asked.rpartition("\n\n")[2])
        return [name for name, said in asdict(self).items() if before.get(name) != said]


class Ledger:
    """The facts of one map. It is this process's alone from `open` to `close`."""

    def __init__(self, store: Archive, identity: Identity, name: str) -> None:
        self._store = store
        self._identity = identity
        self._name = name
        self._claim = ExitStack()
        self._deleted = _deleted(store)
        seed = f"name\0{name}" if name else f"terms\0{identity.text}"
        self.session_id = self._id(f"map\0{seed}")

    def open(self, opened: Opened, template: str) -> bool:
        """Begin the map, or go on with it: whether it was begun before.

        Raises:
            HermesError: another process is at it, or it was begun under other terms.
            StoreError: the store cannot be read or written.
        """
        try:
            self._claim.callback(self._store.claim(self.session_id).close)
        except StoreError as error:
            raise HermesError(f"This map cannot be run now: {error}.") from error
        told = self._recall()
        self._agree(told)
        title = Titled(self._name or brief(template, TITLE))
        asked = Asked(f"{template}\n\n{self._identity.text}")
        self._store.append(self.session_id, *(() if told else (opened, title)), asked)
        return bool(told)

    def before(self, rows: int) -> Iterator[tuple[str, list[Kept]]]:
        """The facts of each row that was asked before, of so many rows; with its session.

        Raises:
            StoreError: the store cannot be read.
        """
        if isinstance(self._store, Store):
            each = groupby(_records(self._store, self.session_id), _session)
            yield from ((session, facts(ordered(told))) for session, told in each)
            return
        for session in map(self.row, range(rows)):
            with suppress(NoSession):
                yield session, self._store.recall(session)

    def row(self, number: int) -> str:
        """The id of the session of row `number`."""
        return self._id(f"{self.session_id}\0{number}")

    def end(self, outcome: Outcome, text: str, reason: str) -> None:
        """Write how it ended.

        Raises:
            StoreError: the store cannot be written.
        """
        self._store.append(self.session_id, Final(outcome, text, reason))

    def close(self) -> None:
        """Let others have it."""
        self._claim.close()

    def _recall(self) -> list[Kept]:
        try:
            return self._store.recall(self.session_id)
        except NoSession:
            return []

    def _agree(self, told: list[Kept]) -> None:
        asked = next((fact.text for fact in told if isinstance(fact, Asked)), "")
        if asked and (other := self._identity.differing(asked)):
            raise HermesError(
                f"The map {brief(self._name, 60)!r} was begun with another {' and another '.join(other)}. "
                "Give this one another name, or map as before."
            )

    def _id(self, seed: str) -> str:
        """An id that follows from `seed`. What was deleted stays so: whatever follows it has another."""
        made = (hashlib.sha256(f"{seed}\0{n}".encode(errors="replace")).hexdigest()[:32] for n in count())
        return next(each for each in made if each not in self._deleted)


def digest(text: str) -> str:
    """Enough of a hash to tell texts apart."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _deleted(store: Archive) -> frozenset[str]:
    return retired(store.home.places).deleted if isinstance(store, Store) else frozenset()


def _records(store: Store, parent: str) -> Iterator[Record]:
    with store.connect() as connection:
        connection.execute(ROWS, [parent])
        while portion := connection.fetchmany(PORTION):
            for uid, session, n, t, kind, body in portion:
                yield Record(uid, session, n, t, {"fact": kind, **json.loads(body)})


def _session(record: Record) -> str:
    return record.session
