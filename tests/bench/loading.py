"""The corpus in our store and in SQLite, each built once in a folder and found there again."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.search.passages import passages
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store
from tests.bench import corpus, lite

BEGIN = 1_704_067_200.0  # 2024-01-01 UTC
SPAN = 60.0 * 86_400  # seconds from the first message to the last, whatever their number
BATCH = 1_000  # sessions for one fold, one transaction


class Calendar(SystemClock):
    """A clock that is told the time."""

    time = BEGIN

    def now(self) -> float:
        return self.time


def times(messages: int) -> Iterator[tuple[corpus.Session, float]]:
    """Each session and the time of all its facts."""
    number = -(-messages // corpus.MESSAGES)
    for at, session in enumerate(corpus.sessions(messages)):
        yield session, BEGIN + SPAN * at / number


def said(session: corpus.Session, t: float) -> tuple[Passage, ...]:
    return passages(session.id, ((n, t, fact) for n, fact in enumerate(session.facts)))


def ours(home: Path, messages: int) -> dict[str, float]:
    """The store of `home` with the corpus in it: seconds of appending and of folding, and the longest fold."""
    return _once(home / "loaded.json", lambda: _ours(home, messages))


def sqlite(path: Path, messages: int) -> dict[str, float]:
    """The database at `path` with the corpus in it: seconds, and bytes of text."""
    return _once(path.with_suffix(".json"), lambda: _sqlite(path, messages))


def _ours(home: Path, messages: int) -> dict[str, float]:
    clock = Calendar()
    store, appending, folds = Store(home, clock=clock), 0.0, []
    for batch in _batches(times(messages), BATCH):
        start = time.perf_counter()
        for session, clock.time in batch:
            store.append(session.id, *session.facts)
        store.close()
        middle = time.perf_counter()
        store.fold()
        appending += middle - start
        folds.append(time.perf_counter() - middle)
    return {"appending": appending, "folding": sum(folds), "longest": max(folds)}


def _sqlite(path: Path, messages: int) -> dict[str, float]:
    connection, start, text = lite.made(path), time.perf_counter(), 0
    for batch in _batches(times(messages), BATCH):
        told = [passage for session, t in batch for passage in said(session, t)]
        text += sum(len(passage.text.encode()) for passage in told)
        lite.append(connection, told)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return {"seconds": time.perf_counter() - start, "text": text}


def _batches(items: Iterator[tuple[corpus.Session, float]], size: int) -> Iterator[list[tuple[corpus.Session, float]]]:
    while batch := list(itertools.islice(items, size)):
        yield batch


def _once(note: Path, make: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What making it took, then or now."""
    if not note.exists():
        figures = make()
        note.write_text(json.dumps(figures), encoding="utf-8")
    return dict(json.loads(note.read_text(encoding="utf-8")))
