"""What is remembered: entries of two small files, as the original agent writes them. Here is what a change makes of
them. Knows no file, no clock and no prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.text import brief

SEPARATOR = "\n§\n"  # between entries, as in the original's files
FILES = {"memory": "MEMORY.md", "user": "USER.md"}
TARGETS = tuple(FILES)
ACTIONS = ("add", "replace", "remove")
WHOLE, SHOWN = 8_000, 120  # characters up to which all entries are shown in full, and of each where they are more
NEAREST = 10  # entries shown where several may be meant
UNCHANGED = "Nothing was changed."


class MemoryRefused(ValueError):
    """The change was not made, and nothing else was. One or more readable lines say why and what to do."""


class MemoryFull(MemoryRefused):
    """What would be remembered of ``target`` is longer than it may be. ``said`` tells how much has to go, ``entries``
    are those there are; what to do about it is for whoever tells it to a person or a model."""

    def __init__(self, target: str, said: str, entries: str) -> None:
        super().__init__(said + entries)
        self.target = target
        self.said = said
        self.entries = entries


class MemoryThreat(MemoryRefused):
    """An entry is suspicious, and nobody who may has consented to it."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


@dataclass(frozen=True, slots=True)
class Limits:
    """How many characters each of the two may have, separators included."""

    memory: int = 2200
    user: int = 1375

    def of(self, target: str) -> int:
        """That of ``memory`` or ``user``."""
        return self.user if target == "user" else self.memory


@dataclass(frozen=True, slots=True)
class Operation:
    """``action`` is ``add``, ``replace`` or ``remove``; ``old`` a part of the entry meant that no other has, or all of
    it; ``content`` the new one. ``whole``: whoever says so has seen the entry, and means none that is otherwise now."""

    action: str
    content: str = ""
    old: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The entries of ``target`` were ``before`` and are ``after``; ``limit`` is how many characters they may have.
    ``notes`` are sentences on what was done beyond what was asked."""

    target: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    limit: int
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Something is otherwise than before."""
        return self.before != self.after

    @property
    def size(self) -> int:
        """The characters that are taken."""
        return size(self.after)


Show = Callable[[str], str]
"""An entry as whoever made the change may read it."""


def size(entries: Sequence[str]) -> int:
    """Characters of the file that holds them."""
    return len(SEPARATOR.join(entries))


def checked(target: str, operations: Sequence[Operation]) -> None:
    """Raises:
    MemoryRefused: it names no file, does nothing, or one of them lacks what it needs.
    """
    if target not in TARGETS:
        raise MemoryRefused(f"There is no target {brief(target, 40)!r}: it is `memory` or `user`.")
    if not operations:
        raise MemoryRefused("There is nothing to do: give an action, or `operations` with at least one.")
    for number, each in enumerate(operations, 1):
        lacking = _lacking(each)
        if lacking:
            raise MemoryRefused(f"{_place(number, operations)}{lacking} {UNCHANGED}")


def _lacking(operation: Operation) -> str:
    action, content, old = operation.action, operation.content.strip(), operation.old.strip()
    if action not in ACTIONS:
        return f"There is no action {brief(action, 40)!r}: it is `add`, `replace` or `remove`."
    if action != "remove" and not content:
        return f"`{action}` needs `content`, the entry as it shall be."
    if action != "add" and not old:
        return f"`{action}` needs `old`, a part of the entry meant that no other entry has."
    return ""


def applied(
    target: str, entries: Sequence[str], operations: Sequence[Operation], limit: int, show: Show = str
) -> tuple[str, ...]:
    """The entries after all of `operations`. Adding what is there already changes nothing. More than `limit` may stand
    in the file already: then it may become less, not more.

    Raises:
        MemoryRefused: one of them means no entry, or several.
        MemoryFull: the result is longer than it may be.
    """
    now = list(entries)
    for number, each in enumerate(operations, 1):
        _do(now, each, _place(number, operations), show)
    fits(target, entries, now, limit, show)
    return tuple(now)


def fits(target: str, before: Sequence[str], after: Sequence[str], limit: int, show: Show = str) -> None:
    """Raises:
    MemoryFull: `after` is longer than it may be, and than `before`.
    """
    if size(after) <= max(limit, size(before)):
        return
    raise MemoryFull(
        target,
        f"{FILES[target]} has {size(before):,} of {limit:,} characters, and with this it would have {size(after):,}: "
        f"{size(after) - limit:,} have to go. {UNCHANGED}",
        listed(before, show),
    )


def listed(entries: Sequence[str], show: Show = str) -> str:
    """Each of them on a line with its number and size."""
    longest = WHOLE if size(entries) <= WHOLE else SHOWN
    lines = (f"\n{n}. ({len(each):,}) {brief(show(each), longest)}" for n, each in enumerate(entries, 1))
    return "".join(lines) or "\nThere are no entries."


def _do(now: list[str], operation: Operation, place: str, show: Show) -> None:
    content = operation.content.strip()
    if operation.action == "add":
        now.extend([content] if content not in now else [])
        return
    at = _seen(now, operation.old, place) if operation.whole else _meant(now, operation.old.strip(), place, show)
    if operation.action == "replace" and content not in now:
        now[at] = content
    elif now[at] != content:
        del now[at]


def _seen(now: Sequence[str], entry: str, place: str) -> int:
    """Where just this entry stands."""
    if entry not in now:
        raise MemoryRefused(
            f"{place}{brief(entry, 80)!r} was changed or removed meanwhile by somebody else. {UNCHANGED} Look again."
        )
    return now.index(entry)


def _meant(now: Sequence[str], old: str, place: str, show: Show) -> int:
    """Where the one entry stands that `old` is all or a part of, line breaks and spaces aside."""
    whole = [n for n, each in enumerate(now) if each == old]
    part = whole or [n for n, each in enumerate(now) if old in each]
    found = part or [n for n, each in enumerate(now) if _folded(old) in _folded(each)]
    if len({now[n] for n in found}) == 1:
        return found[0]
    if not found:
        raise MemoryRefused(f"{place}No entry has {brief(old, 80)!r} in it. {UNCHANGED}{listed(now, show)}")
    several = listed([now[n] for n in found[:NEAREST]], show)
    raise MemoryRefused(
        f"{place}{len(found)} entries have {brief(old, 80)!r} in them: give more of the one you mean. "
        f"{UNCHANGED} They are:{several}"
    )


def _place(number: int, operations: Sequence[Operation]) -> str:
    return f"Operation {number}: " if len(operations) > 1 else ""


def _folded(text: str) -> str:
    return " ".join(text.split())
