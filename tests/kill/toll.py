"""What became of the facts of writers that came to a sudden end, counted in every way in which they are read."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.store import Store, StoreError

FOLD_EVERY = 16  # facts


def child(home: str, acks: str, session: str) -> None:
    """Append, acknowledge, fold now and then, until killed or until the disk is gone."""
    log, n = Store(Path(home)), 0
    handle = os.open(acks, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    with suppress(StoreError):
        log.append(session, Opened(session))
        while True:
            log.append(session, Asked(f"mark {n}"))
            os.write(handle, b"%d\n" % n)
            n += 1
            if n % FOLD_EVERY == 0:
                threading.Thread(target=_fold, args=(log,)).start()


def _fold(log: Store) -> None:
    with suppress(StoreError):
        log.fold()


def possible(safe: int, told: int | None = None) -> range:
    """How many marks may be there of a writer that had been told so many are `safe`, and at its end that so many as
    `told` are: all of them, and the one it was at."""
    return range(safe, (safe if told is None else told) + 2)


@dataclass(frozen=True, slots=True)
class Toll:
    """What became of the facts of all writers."""

    acknowledged: int = 0
    found: int = 0
    damaged: int = 0
    wrong: list[str] = field(default_factory=list)


def count(home: Path, told: Mapping[str, range], recalled: Mapping[str, range] | None = None) -> Toll:
    """Read everything back: the sessions `recalled` (or all) fact by fact, with their tails in the journals and again
    when all is folded; then every session in the database and by a search."""
    recalled = told if recalled is None else recalled
    wrong = [*_recalled(home, recalled)]
    folded = Store(home).fold()
    wrong += [folded.waiting] if folded.waiting else []
    wrong += _recalled(home, recalled)
    wrong += _stored(home, told)
    wrong += _searched(home, recalled)
    with _database(home) as connection:
        ((found, unique),) = connection.execute("SELECT count(*), count(DISTINCT uid) FROM facts").fetchall()
    wrong += [f"{found - unique} facts doubled"] if found != unique else []
    return Toll(sum(marks.start for marks in told.values()), found, folded.damaged, wrong)


def _recalled(home: Path, told: Mapping[str, range]) -> Iterator[str]:
    """Every acknowledged fact in order, each once, and at most those it was at."""
    log = Store(home)
    for session, marks in told.items():
        if marks.start:
            texts = [fact.text for fact in log.recall(session) if isinstance(fact, Asked)]
            yield from _judged("recall", session, marks, texts)


def _stored(home: Path, told: Mapping[str, range]) -> Iterator[str]:
    with _database(home) as connection:
        rows = connection.execute(
            "SELECT session, list(body->>'text' ORDER BY n) FROM facts WHERE kind = 'Asked' GROUP BY session"
        ).fetchall()
        messages = connection.execute("SELECT session, list(text ORDER BY n) FROM messages GROUP BY session").fetchall()
    for what, found in (("database", dict(rows)), ("messages", dict(messages))):
        for session, marks in told.items():
            yield from _judged(what, session, marks, found.get(session, []))


def _searched(home: Path, recalled: Mapping[str, range]) -> Iterator[str]:
    """By a word that all marks have: each mark in the database once, whether or not it was acknowledged."""
    with _database(home) as connection:
        rows = connection.execute(
            "SELECT session, count(*) FROM facts WHERE kind = 'Asked' GROUP BY session"
        ).fetchall()
    there, log = dict(rows), Store(home)
    wanted = {"mark": sum(there.values()), **{f"mark session:{name}": there.get(name, 0) for name in recalled}}
    for query, marks in wanted.items():
        if (total := log.search(query).total) != marks:
            yield f"search: {total} of {marks} for {query}"


def _judged(what: str, session: str, marks: range, texts: list[str]) -> Iterator[str]:
    if texts != [f"mark {n}" for n in range(len(texts))]:
        yield f"{what}: {session} is out of order or doubled"
    if len(texts) not in marks:
        yield f"{what}: {len(texts)} of {marks.start} in {session}"


def _database(home: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(home / "sessions.duckdb"), read_only=True)
