"""Exports as lines of JSON: the original's, a session with its messages to a line, and our own, a fact to a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TextIO, TypeGuard

from hermes_kernel.core.text import scrub
from hermes_kernel.world.importing.reading import session_id, story, time_of
from hermes_kernel.world.importing.sound import sound
from hermes_kernel.world.importing.told import Care, Story
from hermes_kernel.world.importing.trouble import Unreadable
from hermes_kernel.world.store.records import Record

LONGEST_UID = 200  # characters
LONGEST_LINE = 2**28  # characters; a session with all its pictures has some millions
FURTHEST = 2**53  # beyond it a number of JSON is not the same everywhere


@dataclass(frozen=True, slots=True)
class Copy:
    """Facts of one session as another store of ours has them, in order."""

    session: str
    records: tuple[Record, ...]


class Lines:
    """The sessions of one export. A context manager."""

    def __init__(self, path: Path, longest: int = LONGEST_LINE) -> None:
        self._path = path
        self._longest = longest

    @property
    def expected(self) -> int:
        """How many sessions there are: 0, for nobody knows before it is read."""
        return 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def stories(self, care: Care) -> Iterator[Story | Copy]:
        """Each session. Facts of one session that stand together are one copy. Lines that are neither are counted.

        Raises:
            Unreadable: no line is a session or a fact.
        """
        copied: list[Record] = []
        found = False
        for line in self._lines(care):
            record = _record(line)
            if copied and (record is None or record.session != copied[0].session):
                yield Copy(copied[0].session, tuple(copied))
                copied = []
            found = found or record is not None
            if record is not None:
                copied.append(record)
                continue
            for told in _stories(line, care):
                found = True
                yield told
        if copied:
            yield Copy(copied[0].session, tuple(copied))
        if not found:
            raise Unreadable(f"{self._path} has no session in it: expected an export of JSON lines, one to a line")

    def _lines(self, care: Care) -> Iterator[dict[str, Any]]:
        with self._path.open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
            while line := file.readline(self._longest):
                if not line.strip():
                    continue
                plain = _parsed(line if self._is_whole(line) else self._passed_over(file))
                if isinstance(plain, dict):
                    yield plain
                else:
                    care.skip("lines that are not a JSON object")

    def _is_whole(self, line: str) -> bool:
        return len(line) < self._longest or line.endswith("\n")

    def _passed_over(self, file: TextIO) -> str:
        """Nothing, where a line is too long: the rest of it is let go of, a piece at a time."""
        while not self._is_whole(file.readline(self._longest)):
            pass
        return ""


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _stories(line: dict[str, Any], care: Care) -> Iterator[Story]:
    """The session of a line, or those that a conversation was split into where the export keeps them together."""
    segments = line.get("segments")
    for session in segments if isinstance(segments, list) and segments else [line]:
        rows = session.get("messages") if isinstance(session, dict) else None
        if not isinstance(rows, list):
            care.skip("lines that are neither a session nor a fact")
            continue
        told = story(session, [row for row in rows if isinstance(row, dict)], care, whole=False)
        if told is not None:
            yield told


def _record(line: dict[str, Any]) -> Record | None:
    """A fact of ours; None for what is no such thing."""
    name, key, fact = line.get("session"), line.get("uid"), line.get("fact")
    n, t = line.get("n"), line.get("t")
    if not (isinstance(name, str) and isinstance(key, str) and isinstance(fact, dict)):
        return None
    at = time_of(t)
    if not session_id(name) or not 0 < len(key) <= LONGEST_UID or at is None or not _is_place(n):
        return None
    plain = sound(fact)
    if plain is None:
        return None
    try:
        safe = json.loads(scrub(json.dumps(plain, ensure_ascii=False, allow_nan=False)))
    except (ValueError, RecursionError):
        return None
    return Record(scrub(key), session_id(name), n, at, safe)


def _is_place(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < FURTHEST
