"""What a person asks for in a line, such as ``add user TEXT`` or ``edit 3 TEXT``: the same in a notebook and a shell.
Entries are numbered from 1, those of MEMORY.md first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hermes_kernel.core.learning.memory import FILES, Change, MemoryFull, MemoryRefused, Operation
from hermes_kernel.core.text import brief
from hermes_kernel.learning.memory.memory import Memory
from hermes_kernel.learning.proposals import Proposal

ANYWAY = "--anyway"
NOTHING_WAITS = "Nothing waits."


class Line(NamedTuple):
    """Entry number ``n`` of those a person sees."""

    n: int
    target: str
    entry: str


def lines(memory: Memory) -> tuple[Line, ...]:
    """All entries, numbered.

    Raises:
        StoreError: a file cannot be read.
    """
    both = [(target, entry) for target in FILES for entry in memory.entries(target)]
    return tuple(Line(n, *each) for n, each in enumerate(both, 1))


def the_line(memory: Memory, number: str) -> Line:
    """The entry a person calls `number`.

    Raises:
        MemoryRefused: there is none; the text says which there are.
        StoreError: a file cannot be read.
    """
    there = lines(memory)
    for each in there:
        if str(each.n) == number.strip():
            return each
    known = f"there are 1 to {len(there)}" if there else "nothing is remembered yet"
    raise MemoryRefused(f"There is no entry {brief(number, 20) or 'without a number'}: {known}.")


def add(memory: Memory, text: str) -> Change:
    """Remember `text`, which may begin with ``user`` or ``memory`` and have ``--anyway`` at an end. Raises as
    `Memory.apply`."""
    text, anyway = consent(text)
    first, _, rest = text.partition(" ")
    target, content = (first, rest) if first in FILES and rest.strip() else ("memory", text)
    return remember(memory, target, content, anyway=anyway)


def replace(memory: Memory, number: str, text: str) -> Change:
    """Have entry `number` be `text`, which may have ``--anyway`` at an end. Raises as `Memory.apply`."""
    text, anyway = consent(text)
    return rewrite(memory, the_line(memory, number), text, anyway=anyway)


def remove(memory: Memory, number: str) -> Change:
    """Forget entry `number`. Raises as `Memory.apply`."""
    return forget(memory, the_line(memory, number))


def remember(memory: Memory, target: str, text: str, *, anyway: bool = False) -> Change:
    """Have `text` be one more entry; ``anyway``: a person has been told what is suspicious in it. Raises as
    `Memory.apply`."""
    return memory.apply(target, [Operation("add", text)], by="person", consent=anyway)


def rewrite(memory: Memory, line: Line, text: str, *, anyway: bool = False) -> Change:
    """Have the entry of `line` be `text`, unless somebody changed it since it was read. Raises as `Memory.apply`."""
    wanted = Operation("replace", text, line.entry, whole=True)
    return memory.apply(line.target, [wanted], by="person", consent=anyway)


def forget(memory: Memory, line: Line) -> Change:
    """Take the entry of `line` away, unless somebody changed it since it was read. Raises as `Memory.apply`."""
    return memory.apply(line.target, [Operation("remove", old=line.entry, whole=True)], by="person")


def full(memory: Memory, error: MemoryFull) -> str:
    """What a person is told where there is no room, with the numbers by which they name entries."""
    there = [f"\n{each.n}. ({len(each.entry):,}) {brief(each.entry, 200)}" for each in lines(memory)
             if each.target == error.target]  # fmt: skip
    return f"{error.said} Shorten one of these with `edit N TEXT`, or `remove N`.{''.join(there)}"


def chosen(memory: Memory, name: str) -> tuple[Proposal, ...]:
    """The proposals that ``all`` or an id, or its beginning, means.

    Raises:
        NoProposal: none, or several; the text names those there are.
        MemoryRefused: it is none about what is remembered.
    """
    if name == "all":
        return memory.proposals.all("memory")
    found = memory.proposals.get(name)
    if found.kind != "memory":
        raise MemoryRefused(f"Proposal {found.id} is about a {found.kind}: see `%hermes {found.kind}s`.")
    return (found,)


def accept(memory: Memory, name: str) -> tuple[Change, ...]:
    """Do what the proposals that `name` means want, and what came of each. Raises as `chosen` and `Memory.accept`."""
    return tuple(memory.accept(each) for each in chosen(memory, name))


def reject(memory: Memory, name: str) -> tuple[Proposal, ...]:
    """Drop the proposals that `name` means. Raises as `chosen`."""
    gone = chosen(memory, name)
    for each in gone:
        memory.proposals.remove(each)
    return gone


def rejected(gone: Sequence[Proposal]) -> str:
    """What came of that, in a line."""
    return f"{len(gone)} will not be remembered." if gone else NOTHING_WAITS


def count(text: str, usual: int) -> int:
    """A whole number from 1 that a person gave, or the usual one.

    Raises:
        MemoryRefused: it is none.
    """
    if not text.strip():
        return usual
    if not text.strip().isdecimal() or not int(text):
        raise MemoryRefused(f"{brief(text, 20)!r} is no number from 1 up.")
    return int(text)


def consent(text: str) -> tuple[str, bool]:
    """`text` without ``--anyway`` at its beginning or end, and whether that was there."""
    words = text.strip()
    bare = words.removeprefix(f"{ANYWAY} ").removesuffix(f" {ANYWAY}")
    return bare.strip(), bare != words


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """What went and what came, an entry a line."""
    gone = [f"- {brief(each, 100)}" for each in before if each not in after]
    return gone + [f"+ {brief(each, 100)}" for each in after if each not in before]
