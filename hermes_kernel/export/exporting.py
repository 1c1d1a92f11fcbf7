"""Which format is meant, and the text in it. Secrets are taken out once more, whoever put the records there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import PurePath

from hermes_kernel.core.redact import redact_plain
from hermes_kernel.core.text import scrub
from hermes_kernel.export.conversation import Conversation, conversations
from hermes_kernel.export.markdown import markdown
from hermes_kernel.export.notebook import notebook
from hermes_kernel.world.store.records import Record, dense, ordered

SUFFIXES = {".md": "md", ".markdown": "md", ".jsonl": "jsonl", ".ndjson": "jsonl", ".ipynb": "ipynb"}
FORMATS = ("md", "jsonl", "ipynb")


def format_of(name: str) -> str:
    """The format that the end of a file's name asks for; ``""`` when it asks for none of them."""
    return SUFFIXES.get(PurePath(name).suffix.lower(), "")


def export(records: Iterable[Record], form: str, kernel: str = "python3") -> str:
    """Sessions as one text, the session that began first standing first.

    Args:
        records: everything the store has of one session, or of several; each is told once, in whatever order it comes.
        form: one of `FORMATS`: ``md`` and ``ipynb`` tell the turns that stand, ``jsonl`` holds every record.
        kernel: for ``ipynb``, one of `KERNELS`.

    Raises:
        ValueError: there is no such format or kernel.
    """
    safe = [replace(record, fact=redact_plain(record.fact)) for record in records]
    match form:
        case "jsonl":
            return "".join(_line(record) for session in by_session(safe) for record in session)
        case "md":
            return _told(safe, markdown)
        case "ipynb":
            return _told(safe, lambda each: notebook(each, kernel))
    raise ValueError(f"there is no format {form!r}; there are {', '.join(FORMATS)}")


def _told(records: list[Record], tell: Callable[[tuple[Conversation, ...]], str]) -> str:
    return scrub(tell(conversations(by_session(records))))


def _line(record: Record) -> str:
    """What the journal holds of a record, without its checksum."""
    return scrub(dense({field.name: getattr(record, field.name) for field in fields(record)})) + "\n"


def by_session(records: Iterable[Record]) -> list[list[Record]]:
    """The records of each session in order, the sessions as they began."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.session, []).append(record)
    whole = [ordered(each) for each in found.values()]
    return sorted(whole, key=lambda each: (min(record.t for record in each), each[0].session))
