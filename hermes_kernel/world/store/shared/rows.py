"""A record as the server's columns, and back. Whatever a fact or an id holds comes back as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hermes_kernel.core.text import scrub
from hermes_kernel.world.store.records import Record, dense

_ESCAPED = re.compile(r"\\(.)")


def columns(records: Sequence[Record]) -> list[list[Any]]:
    """One list for each argument of the function ``take``."""
    return [list(column) for column in zip(*map(_row, records), strict=True)]


def portions(records: Sequence[Record], count: int, size: int) -> Iterator[Sequence[Record]]:
    """Them all, in order, at most `count` at a time and of about `size` characters, or one that is longer."""
    first, room = 0, size
    for at, each in enumerate(records):
        length = len(_body(each))
        if at > first and (at - first == count or length > room):
            yield records[first:at]
            first, room = at, size
        room -= length
    if records:
        yield records[first:]


def record(row: tuple[Any, ...]) -> Record:
    """The record in a row of ``seq, uid, session, n, t, kind, body``."""
    _, uid, session, n, t, kind, body = row
    return Record(uid, read(session), n, t, {"fact": read(kind), **json.loads(body)})


def written(text: str) -> str:
    """`text` as the server's text can hold it: NUL and backslash escaped, lone surrogates replaced."""
    return scrub(text).replace("\\", "\\\\").replace("\0", "\\0")


def read(text: str) -> str:
    """What `written` was given."""
    return _ESCAPED.sub(lambda found: "\0" if found[1] == "0" else found[1], text)


def _row(record: Record) -> tuple[str, str, int, float, str, str]:
    kind = written(str(record.fact.get("fact", "")))
    return record.uid, written(record.session), record.n, record.t, kind, _body(record)


def _body(record: Record) -> str:
    return scrub(dense({name: value for name, value in record.fact.items() if name != "fact"}))
