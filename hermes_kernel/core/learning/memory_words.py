"""What whoever changed what is remembered is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_kernel.core.learning.memory import FILES, Change, MemoryFull, Operation

LATER = "It takes effect in the next session."
ROOM = (
    "Put entries together, shorten or remove what matters least, and add the new one, all in one call with "
    "`operations`."
)
STOP = "{} tries in a row have failed: stop trying, leave what is remembered as it is, and go on with your answer."
TRIES = 3  # as the original allows


def done(change: Change) -> str:
    """What a model is told of a change that was made, or needed none."""
    where = f"{FILES[change.target]} has {change.size:,} of {change.limit:,} characters in {_entries(change.after)}."
    notes = "".join(f" {note}" for note in change.notes)
    if not change.changed:
        return f"That is remembered already, so nothing was changed.{notes} {where} Do not send it again."
    return f"Done.{notes} {where} {LATER} Do not send it again."


def failed(error: Exception, tries: int) -> str:
    """What a model is told of a change that was not made, `tries` times in a row."""
    why = f"{error.said} {ROOM}{error.entries}" if isinstance(error, MemoryFull) else str(error)
    return why if tries < TRIES else f"{why}\n{STOP.format(tries)}"


def asked(target: str, operations: Sequence[Operation]) -> str:
    """What is asked for, as a person reads it: a line or more for each operation."""
    return "\n".join([f"{FILES.get(target, target)}:", *(_asked(each) for each in operations)])


def _asked(operation: Operation) -> str:
    match operation.action:
        case "add":
            return f"add: {operation.content}"
        case "replace":
            return f"replace: {operation.old}\nwith: {operation.content}"
        case _:
            return f"{operation.action}: {operation.old}"


def plain(target: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """The same for a file of JSON."""
    rows = [{"action": each.action, "content": each.content, "old": each.old} for each in operations]
    return {"target": target, "operations": rows}


def understood(what: Mapping[str, Any]) -> tuple[str, tuple[Operation, ...]]:
    """What `plain` made, read again. What is none of it makes an operation that is refused by name."""
    rows = what.get("operations")
    rows = rows if isinstance(rows, list) else []
    return str(what.get("target", "")), tuple(_operation(each) for each in rows)


def _operation(row: object) -> Operation:
    if not isinstance(row, Mapping):
        return Operation("")
    action, content, old = (row.get(name) or "" for name in ("action", "content", "old"))
    return Operation(str(action), str(content), str(old))


def _entries(entries: Sequence[str]) -> str:
    return "1 entry" if len(entries) == 1 else f"{len(entries):,} entries"
