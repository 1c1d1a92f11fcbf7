"""The original's ``state.db``, of whatever version, read while its program may be writing. Nothing there is changed: a
file at rest is not even locked, one in use is read a session at a time so that no writer waits.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from hermes_kernel.world.importing.reading import story
from hermes_kernel.world.importing.told import Care, Story
from hermes_kernel.world.importing.trouble import Unreadable

BUSY = 10.0  # seconds to wait for a writer that has the whole file
SESSION = (
    "id", "source", "model", "model_config", "system_prompt", "parent_session_id", "started_at", "title",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "estimated_cost_usd", "actual_cost_usd",
)  # fmt: skip
MESSAGE = (
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "timestamp", "finish_reason", "reasoning",
    "reasoning_content", "reasoning_details", "active", "compacted",
)  # fmt: skip
NEEDED = {"sessions": {"id"}, "messages": {"id", "session_id", "role", "content"}}
MODELS = "SELECT count(DISTINCT model) FROM session_model_usage WHERE session_id = ?"


class StateDb:
    """The sessions of one file. A context manager."""

    def __init__(self, path: Path) -> None:
        """Raises:
        Unreadable: it is no such database, or cannot be read.
        """
        self._path = path
        self._held = ExitStack()
        self._at_rest = _at_rest(path)
        try:
            self._connection = self._connect()
            columns = {table: self._known(table) for table in NEEDED}
            self._of_session = f"SELECT {columns['sessions']} FROM sessions WHERE id = ?"  # noqa: S608 - names of ours
            self._of_messages = (
                f"SELECT {columns['messages']} FROM messages WHERE session_id = ? "  # noqa: S608 - likewise
                "ORDER BY id"
            )
            self._models = self._of("session_model_usage")
            self._ids = self._sessions(ordered="started_at" in columns["sessions"])
        except BaseException as error:
            self._held.close()
            if isinstance(error, sqlite3.Error):
                raise Unreadable(f"{path} cannot be read: {error}. Expected the state.db of Hermes Agent.") from error
            raise

    @property
    def expected(self) -> int:
        """How many sessions there are, but for those that are not listed."""
        return len(self._ids)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def stories(self, care: Care) -> Iterator[Story]:
        """Each session, the one that began first standing first. One that is damaged is counted and passed over."""
        for name in (*self._ids, *self._loose(care)):
            try:
                session, messages = self._read(name)
            except sqlite3.Error as error:
                care.skip(f"sessions that could not be read ({error})")
                continue
            if (found := story(session, messages, care)) is not None:
                yield found

    def _connect(self) -> sqlite3.Connection:
        path = self._path.absolute()
        how = "immutable=1" if self._at_rest is not None else "mode=ro"
        try:
            return self._opened(path, how)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            return self._opened(self._copied(path), "mode=rw")

    def _copied(self, path: Path) -> Path:
        """A copy: beside a file in use, or left by a crash, SQLite writes, which this folder does not take."""
        folder = Path(self._held.enter_context(TemporaryDirectory()))
        for each in (path, *_beside(path)):
            if each.exists():
                shutil.copyfile(each, folder / each.name)
        return folder / path.name

    def _opened(self, path: Path, how: str) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=BUSY, isolation_level=None)
        self._held.enter_context(closing(connection))
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        return connection

    def _of(self, table: str) -> set[str]:
        """The columns of a table; none where it is something else by this name."""
        is_table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'"
        if not self._connection.execute(is_table, [table]).fetchall():
            return set()
        return {row["name"] for row in self._connection.execute(f"PRAGMA table_info({table})")}

    def _known(self, table: str) -> str:
        there = self._of(table)
        if not there >= NEEDED[table]:
            missing = ", ".join(sorted(NEEDED[table] - there)) if there else "the table itself"
            raise Unreadable(f"{self._path} is no state.db of Hermes Agent: of `{table}` it lacks {missing}")
        wanted = SESSION if table == "sessions" else MESSAGE
        return ", ".join(name for name in wanted if name in there)

    def _sessions(self, *, ordered: bool) -> list[str]:
        ids = "SELECT id FROM sessions ORDER BY started_at, rowid" if ordered else "SELECT id FROM sessions"
        return [row["id"] for row in self._connection.execute(ids)]

    def _loose(self, care: Care) -> list[str]:
        """Sessions of which there are messages and nothing else."""
        loose = "SELECT session_id AS id FROM messages EXCEPT SELECT id FROM sessions"
        try:
            return [row["id"] for row in self._connection.execute(loose)]
        except sqlite3.Error as error:
            care.skip(f"looks for messages of sessions that are not listed ({error})")
            return []

    def _read(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A session as of one moment. A file at rest that was written to meanwhile is read again, with care."""
        while True:
            found = self._once(name)
            if self._at_rest is None or self._at_rest == _at_rest(self._path):
                return found
            self._at_rest = None
            self._connection = self._connect()

    def _once(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        ask = self._connection.execute
        ask("BEGIN")
        try:
            row = ask(self._of_session, [name]).fetchone()
            rows = ask(self._of_messages, [name]).fetchall()
            models = self._models_of(name)
        finally:
            if self._connection.in_transaction:
                ask("COMMIT")
        return {**(dict(row) if row else {"id": name}), "models": models}, [dict(each) for each in rows]

    def _models_of(self, name: str) -> int:
        """How many models replied in a session, as far as the file tells."""
        if not self._models >= {"session_id", "model"}:
            return 1
        question = f"{MODELS} AND task = ''" if "task" in self._models else MODELS
        return int(self._connection.execute(question, [name]).fetchone()[0])


def _at_rest(path: Path) -> tuple[int, int] | None:
    """What tells whether a file was written to, while nobody has it open for that."""
    if any(each.exists() for each in _beside(path)):
        return None
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _beside(path: Path) -> tuple[Path, Path]:
    """What SQLite keeps beside a file while it is in use."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-journal")
