"""The same messages in SQLite as its best users keep them: WAL, FULL, FTS5 by triggers with the text kept once, and a
trigram table for scripts without spaces, of which one or two characters are looked for by a scan, the newest first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hermes_kernel.core.search.found import Passage

SCHEMA = """
CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, n INTEGER, at REAL, role TEXT, tool TEXT, text TEXT);
CREATE INDEX of_session ON messages (session, n);
CREATE VIRTUAL TABLE words USING fts5(text, content=messages, content_rowid=id, tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE trigrams USING fts5(text, content=messages, content_rowid=id, tokenize='trigram');
CREATE TRIGGER told AFTER INSERT ON messages BEGIN
    INSERT INTO words(rowid, text) VALUES (new.id, new.text);
    INSERT INTO trigrams(rowid, text) VALUES (new.id, new.text);
END;
"""
INSERT = "INSERT INTO messages(session, n, at, role, tool, text) VALUES (?, ?, ?, ?, ?, ?)"
BEST = """
SELECT m.id, m.session, m.role, m.at, snippet({table}, 0, '[', ']', '…', 16) FROM {table} JOIN messages m ON m.id = {table}.rowid
WHERE {table} MATCH ? {more} ORDER BY rank LIMIT 10
"""
MANY = "SELECT count(*) FROM {table} JOIN messages m ON m.id = {table}.rowid WHERE {table} MATCH ? {more}"
ONLY = "SELECT count(*) FROM {table} WHERE {table} MATCH ?"
SCAN = "SELECT id, session, role, at, substr(text, max(1, instr(text, ?1) - 60), 160) FROM messages WHERE text LIKE '%' || ?1 || '%' ORDER BY id DESC LIMIT 10"
SCANNED = "SELECT count(*) FROM messages WHERE text LIKE '%' || ?1 || '%'"


class Asked(NamedTuple):
    """A question to SQLite: a text for ``words``, for ``trigrams`` or for a ``scan``, and the age and role it is
    limited to."""

    text: str
    table: str = "words"
    role: str = ""
    after: float = 0.0


def opened(path: Path) -> sqlite3.Connection:
    """A connection that waits half a minute for other writers and is on disk after each commit."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def made(path: Path) -> sqlite3.Connection:
    """An empty database."""
    connection = opened(path)
    connection.executescript(SCHEMA)
    return connection


def row(passage: Passage) -> tuple[object, ...]:
    return (passage.session, passage.n, passage.t, passage.role, passage.tool, passage.text)


def append(connection: sqlite3.Connection, passages: Iterable[Passage]) -> None:
    """In one durable transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(INSERT, map(row, passages))
    connection.execute("COMMIT")


def best(connection: sqlite3.Connection, asked: Asked) -> list[tuple[object, ...]]:
    """The ten best, or newest, with an excerpt."""
    if asked.table == "scan":
        return connection.execute(SCAN, (asked.text,)).fetchall()
    return connection.execute(BEST.format(table=asked.table, more=_more(asked)), _given(asked)).fetchall()


def many(connection: sqlite3.Connection, asked: Asked) -> int:
    """How many match."""
    if asked.table == "scan":
        question = SCANNED
    else:
        question = (MANY if asked.role else ONLY).format(table=asked.table, more=_more(asked))
    return int(connection.execute(question, _given(asked)).fetchone()[0])


def _more(asked: Asked) -> str:
    return "AND m.role = ? AND m.at >= ?" if asked.role else ""


def _given(asked: Asked) -> tuple[object, ...]:
    return (asked.text, asked.role, asked.after) if asked.role else (asked.text,)


def weight(path: Path) -> int:
    """Bytes on disk, with its log."""
    return sum(each.stat().st_size for each in path.parent.glob(path.name + "*"))
