"""A record as the server's columns, and back. Whatever a fact or an id holds comes back as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hermes_kernel.core.text import scrub
from hermes_kernel.world.store.records import Record, dense

_ESCAPED = re.compile(r"\\(.)")


def columns(records: Sequence[Record]) -> list[list[Any]]:
    """One list for each argument of the function ``take``."""
    return [
        [record.uid for record in records],
        [written(record.session) for record in records],
        [record.n for record in records],
        [record.t for record in records],
        [written(str(record.fact.get("fact", ""))) for record in records],
        [_body(record) for record in records],
    ]


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


def _body(record: Record) -> str:
    return scrub(dense({name: value for name, value in record.fact.items() if name != "fact"}))
