"""A fact with its place in a session, and the journal line that says so. Knows no file and no database."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hermes_kernel.core.events import Kept
from hermes_kernel.core.plain import Plain, load
from hermes_kernel.core.text import scrub

HEAD = 9  # the eight hex digits of a CRC-32 and a space


@dataclass(frozen=True, slots=True)
class Record:
    """One fact as it is stored. ``n`` orders the facts of a session (gaps mean nothing), ``t`` is seconds since
    1970-01-01 UTC and never goes back within a session; ``uid`` is unique in a home, ``fact`` is plain data."""

    uid: str
    session: str
    n: int
    t: float
    fact: Plain


def encode(record: Record) -> bytes:
    """The journal line of `record`: checksum, JSON, newline. The only newline in it is its last byte."""
    plain = {"uid": record.uid, "session": record.session, "n": record.n, "t": record.t, "fact": record.fact}
    text = dense(plain)
    try:
        body = text.encode()
    except UnicodeEncodeError:
        body = scrub(text).encode()
    return _head(body) + body + b"\n"


def decode(line: bytes) -> Record | None:
    """The record of one whole line without its newline, or None when the line is damaged."""
    body = line[HEAD:]
    if line[:HEAD] != _head(body):
        return None
    try:
        plain = json.loads(body)
        record = Record(plain["uid"], plain["session"], plain["n"], plain["t"], plain["fact"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return record if _is_one(plain) else None


def _is_one(plain: dict[str, Any]) -> bool:
    """A checksum says that a line is as it was written, and not by whom."""
    named = isinstance(plain["uid"], str) and isinstance(plain["session"], str)
    placed = isinstance(plain["n"], int) and isinstance(plain["t"], int | float)
    return named and placed and isinstance(plain["fact"], dict)


def _head(body: bytes) -> bytes:
    return b"%08x " % zlib.crc32(body)


def dense(plain: Plain | str) -> str:
    """JSON without spaces."""
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def ordered(records: Iterable[Record]) -> list[Record]:
    """Each record once, in the order of its session."""
    once = {record.uid: record for record in records}
    return sorted(once.values(), key=lambda record: (record.n, record.t, record.uid))


def facts(records: Iterable[Record]) -> list[Kept]:
    """The facts themselves; those of a later version of this program are passed over."""
    read = (understood(record.fact) for record in records)
    return [fact for fact in read if fact is not None]


def timed(records: Iterable[Record]) -> tuple[tuple[float, Kept], ...]:
    """The facts with when each was written down, in seconds since 1970."""
    read = ((record.t, understood(record.fact)) for record in records)
    return tuple((t, fact) for t, fact in read if fact is not None)


def understood(plain: Plain) -> Kept | None:
    """A fact from its plain data; None for one of a later version of this program."""
    try:
        return load(plain)
    except ValueError:
        return None
