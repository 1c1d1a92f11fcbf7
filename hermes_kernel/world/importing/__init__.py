"""Conversations from elsewhere: the database and the exports of the original Hermes Agent, and exports of our own.

What is read is hostile; what is written are facts like all others, each with a uid that is the same at every import.
"""

from __future__ import annotations

from pathlib import Path

from hermes_kernel.world.importing.bringing import Brought, Importer
from hermes_kernel.world.importing.jsonl import Lines
from hermes_kernel.world.importing.state_db import StateDb
from hermes_kernel.world.importing.told import Care
from hermes_kernel.world.importing.trouble import Unreadable

EXPECTED = "Expected the state.db of Hermes Agent, its folder, or an export as JSON lines."
HEAD = 64  # bytes that tell one from the other
SQLITE = b"SQLite format 3\0"


def source(path: Path) -> StateDb | Lines:
    """What is at `path`, ready to be read. To be closed, as a context manager.

    Raises:
        Unreadable: there is nothing there that could be imported; the text says what was expected.
    """
    place = path / "state.db" if path.is_dir() else path
    if place.exists() and not place.is_file():  # a pipe would be waited for
        raise Unreadable(f"{place} is no file. {EXPECTED}")
    try:
        with place.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise Unreadable(f"{place}: {error.strerror}. {EXPECTED}") from error
    if head.startswith(SQLITE):
        return StateDb(place)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return Lines(place)
    what = "is neither a database nor JSON lines (if it is a database, it is encrypted or damaged)"
    raise Unreadable(f"{place} {what if head else 'is empty'}. {EXPECTED}")


__all__ = ["Brought", "Care", "Importer", "Lines", "StateDb", "Unreadable", "source"]
