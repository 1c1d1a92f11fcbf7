"""Bringing stories into a store: each once, however often it is told, by one import at a time.

A session that is in use, that was deleted here, or that has been gone on with here is left as it is, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from hermes_kernel.world.importing.jsonl import Copy
from hermes_kernel.world.importing.known import Known, known, uid
from hermes_kernel.world.importing.news import News, copied, news, origin
from hermes_kernel.world.importing.told import Care, Story
from hermes_kernel.world.store import Store, StoreError
from hermes_kernel.world.store.locks import Busy, held
from hermes_kernel.world.store.places import explaining
from hermes_kernel.world.store.records import Record
from hermes_kernel.world.store.taking import Trace

SESSIONS, FACTS, CHARACTERS = 200, 5_000, 32 * 2**20  # at once: so many are looked up and claimed together
FOLD_AT = 20_000  # facts; what is not folded is read again with each look
PATIENCE = 600.0  # seconds to wait for another import

IN_USE = "sessions that are in use by another process"
DELETED = "sessions that were deleted here"
CLASH = "sessions whose id a session of another origin has here"
WENT_ON = "sessions that were gone on with here and have more to tell"
LATE = "messages from before those that are here"

Session = Story | Copy


@dataclass(slots=True)
class Brought:
    """What an import did. ``sessions`` are new ones, ``grown`` had more to tell, ``same`` had not; ``known`` messages
    were here before. ``skipped`` says why how many were left out, ``hidden`` how many texts had a secret in them."""

    sessions: int = 0
    grown: int = 0
    same: int = 0
    messages: int = 0
    calls: int = 0
    titles: int = 0
    known: int = 0
    hidden: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


class Importer:
    """One import into the store of one home."""

    def __init__(self, store: Store, care: Care, *, dry: bool = False) -> None:
        """``dry``: everything is looked at and counted, nothing is written."""
        self._store = store
        self._places = store.home.places
        self._care = care
        self._dry = dry
        self._owed = 0  # facts written since the last fold
        self.brought = Brought(skipped=care.skipped)

    def bring(self, sessions: Iterable[Session], progress: Callable[[int], None] = lambda _: None) -> Brought:
        """Write what is new in `sessions`; ``progress`` is told how many are done.

        Raises:
            StoreError: the store cannot be read or written, or another import is at work; what was written stands, and
                the same import goes on where this one stopped.
        """
        done = 0
        with self._alone():
            for batch in _batches(sessions):
                self._batch(batch)
                done += len(batch)
                progress(done)
        self.brought.hidden = self._care.hidden
        return self.brought

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two imports of the same sessions would each write what the other is about to."""
        if self._dry:
            yield
            return
        try:
            with explaining(self._places), held(self._places.lock.with_name("import.lock"), PATIENCE):
                yield
        except Busy:
            raise StoreError("another import is at work in this home: try again when it is done") from None

    def _batch(self, batch: Sequence[Session]) -> None:
        with ExitStack() as claims:
            free = [told for told in batch if self._dry or self._claimed(claims, told)]
            there = self._store.present([told.session for told in free])
            traces: dict[str, list[Trace]] = {}
            for trace in there.traces:
                traces.setdefault(trace.session, []).append(trace)
            fresh: list[Record] = []
            for told in free:
                if told.session in there.deleted:
                    self._care.skip(DELETED)
                else:
                    fresh += self._look(told, known(traces.get(told.session, ())))
            self._write(fresh)

    def _claimed(self, claims: ExitStack, told: Session) -> bool:
        try:
            claims.enter_context(self._store.claim(told.session))
        except StoreError as error:
            if error.__cause__ is not None:  # not in use: the home takes no lock file
                raise
            self._care.skip(IN_USE)
            return False
        return True

    def _look(self, told: Session, here: Known) -> Sequence[Record]:
        """What is to be written of one session, counted."""
        if here.uids and not _same(told, here):
            self._care.skip(CLASH)
            return ()
        found = news(told, here) if isinstance(told, Story) else copied(told.records, here)
        if found is not None and here.ours and isinstance(told, Story):
            found = None if found.messages else replace(found, records=(), titles=0)
        if found is None:
            self._care.skip(WENT_ON)
            return ()
        self._count(found, here)
        return found.records

    def _count(self, found: News, here: Known) -> None:
        brought = self.brought
        brought.sessions += not here.uids
        brought.grown += bool(here.uids and found.records)
        brought.same += bool(here.uids and not found.records)
        brought.messages += found.messages
        brought.calls += found.calls
        brought.titles += found.titles
        brought.known += found.known
        if found.late:
            self._care.skip(LATE, found.late)

    def _write(self, fresh: Sequence[Record]) -> None:
        if self._dry or not fresh:
            return
        self._store.take(fresh)
        self._owed += len(fresh)
        if self._owed >= FOLD_AT:
            self._store.fold()
            self._owed = 0


def _same(told: Session, here: Known) -> bool:
    """Whether it is one session that is told of and that is here, and not two of one id."""
    if isinstance(told, Story):
        return uid(told.session, origin(told)) in here.uids
    return any(record.uid in here.uids or record.n >= here.next for record in told.records)


def _batches(sessions: Iterable[Session]) -> Iterator[list[Session]]:
    """So many sessions at once, each once in a batch."""
    batch: list[Session] = []
    names: set[str] = set()
    room = 1.0
    for told in sessions:
        share = _share(told)
        if batch and (told.session in names or share > room):
            yield batch
            batch, names, room = [], set(), 1.0
        batch.append(told)
        names.add(told.session)
        room -= share
    if batch:
        yield batch


def _share(told: Session) -> float:
    """How much of a batch it takes up."""
    if isinstance(told, Copy):
        return max(1 / SESSIONS, len(told.records) / FACTS)
    characters = sum(len(each.text) for each in told.messages)
    return max(1 / SESSIONS, len(told.messages) / FACTS, characters / CHARACTERS)
