"""What the tests of the import share: the original's files, as its own code wrote them, and what an import made of them."""

from __future__ import annotations

import sqlite3
import tarfile
from pathlib import Path
from typing import Any

import duckdb

from hermes_kernel.core.redact import redact
from hermes_kernel.core.turn import Turn, recall
from hermes_kernel.world.importing import Brought, Care, Importer, source
from hermes_kernel.world.importing.told import Story
from hermes_kernel.world.store import Store

ARCHIVE = Path(__file__).parent / "data" / "original.tar.xz"  # see make_state_db.py

# Column by column what the oldest version had, and what the one had that could take prompts back first.
SCHEMA_1 = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (1);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    token_count INTEGER);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
"""
SCHEMA_12 = (
    SCHEMA_1.replace("VALUES (1)", "VALUES (12)")
    + """
ALTER TABLE sessions ADD COLUMN title TEXT;
ALTER TABLE sessions ADD COLUMN cache_read_tokens INTEGER DEFAULT 0;
ALTER TABLE sessions ADD COLUMN cache_write_tokens INTEGER DEFAULT 0;
ALTER TABLE sessions ADD COLUMN reasoning_tokens INTEGER DEFAULT 0;
ALTER TABLE sessions ADD COLUMN estimated_cost_usd REAL;
ALTER TABLE sessions ADD COLUMN actual_cost_usd REAL;
ALTER TABLE messages ADD COLUMN finish_reason TEXT;
ALTER TABLE messages ADD COLUMN reasoning TEXT;
ALTER TABLE messages ADD COLUMN reasoning_details TEXT;
ALTER TABLE messages ADD COLUMN active INTEGER;
"""
)


def original(folder: Path) -> Path:
    """A folder like the original's home, with ``state.db``, ``state.db-wal`` and ``export.jsonl`` in it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def made(path: Path, schema: str, **tables: list[dict[str, Any]]) -> Path:
    """A database with these rows."""
    connection = sqlite3.connect(path)
    connection.executescript(schema)
    for table, rows in tables.items():
        write(connection, table, rows)
    connection.commit()
    connection.close()
    return path


def write(connection: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    connection.commit()


def bring(home: Path, path: Path, *, dry: bool = False) -> Brought:
    """What an import of `path` into `home` did."""
    store = Store(home)
    care = Care(redact)
    with source(path) as found:
        brought = Importer(store, care, dry=dry).bring(found.stories(care))
    store.close()
    return brought


def stories(path: Path) -> list[Story]:
    """What is told at `path`."""
    with source(path) as found:
        return [story for story in found.stories(Care(redact)) if isinstance(story, Story)]


def seen(home: Path, question: str) -> list[tuple[Any, ...]]:
    """What any DuckDB client sees."""
    Store(home).fold()
    with duckdb.connect(str(home / "sessions.duckdb"), read_only=True) as connection:
        return connection.execute(question).fetchall()


def asked(path: Path, question: str) -> list[tuple[Any, ...]]:
    """What SQLite says."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return connection.execute(question).fetchall()
    finally:
        connection.close()


def resumed(home: Path, session: str) -> Turn:
    """The conversation as an agent would go on with it."""
    return recall(Store(home).recall(session))
