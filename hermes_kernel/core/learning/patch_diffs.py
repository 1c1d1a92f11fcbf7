"""A diff read: which passages of which file it wants for which. Unified and V4A ("*** Begin Patch") alike.

Line numbers in it are not believed; a passage is looked for by what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hermes_kernel.core.learning.patching import NoPatch, patched

_FILE = re.compile(r"(?:\*\*\* Update File: |\+\+\+ (?:b/)?)(?P<file>[^\t\n]+)")
_OTHER = re.compile(r"\*\*\* (?P<what>Add|Delete) File: |\*\*\* (?P<move>Move) to: |(?P<gone>\+\+\+ /dev/null)")
_NEW_FILE = re.compile(r"--- /dev/null")
_NO_CHANGE = ("--- ", "diff ", "index ", "*** Begin", "*** End", "\\ ")
HINT = {
    "Add": "a file is made with action=write_file",
    "Delete": "a file is removed with action=remove_file",
    "Move": "a file is moved with write_file and remove_file",
}


@dataclass(frozen=True, slots=True)
class Hunk:
    """``old`` is to become ``new`` in ``file`` ("": the one that is meant anyway)."""

    file: str
    old: str
    new: str


def hunks(diff: str) -> tuple[Hunk, ...]:
    """What a diff wants, in its order.

    Raises:
        NoPatch: it is no diff, or wants more than passages changed. The text says how to do it.
    """
    if "\n+" not in f"\n{diff}" and "\n-" not in f"\n{diff}":
        raise NoPatch(
            "patch is no diff: no line of it begins with + or -. Give old and new: the passage, and what to put there."
        )
    found = tuple(_hunks(diff.replace("\r\n", "\n").split("\n")))
    if not found:
        raise NoPatch("The diff changes nothing. Give old and new: the passage, and what to put there.")
    return found


def applied(text: str, wanted: Sequence[Hunk]) -> str:
    """`text` with each of the passages replaced, one after the other.

    Raises:
        NoPatch: one is not there, or in several places; the text says which.
    """
    for number, hunk in enumerate(wanted, 1):
        try:
            text = patched(text, hunk.old, hunk.new).text
        except NoPatch as why:
            which = f"Part {number} of the {len(wanted)} of the diff: " if len(wanted) > 1 else ""
            raise NoPatch(f"{which}{why}") from None
    return text


def _hunks(lines: Sequence[str]) -> Iterator[Hunk]:
    file, part = "", list[str]()
    for line in lines:
        _possible(line)
        named = _FILE.match(line)
        if named or line.startswith(("@@", *_NO_CHANGE)):
            yield from _hunk(file, part)
            part = []
            file = named["file"].strip() if named else file
        else:
            part.append(line)
    yield from _hunk(file, part)


def _possible(line: str) -> None:
    if other := _OTHER.match(line):
        what = other["what"] or other["move"] or "Delete"
        raise NoPatch(f"This patch can only change passages of files that are there: {HINT[what]}.")
    if _NEW_FILE.match(line):
        raise NoPatch(f"This patch can only change passages of files that are there: {HINT['Add']}.")


def _hunk(file: str, part: Sequence[str]) -> Iterator[Hunk]:
    lines = list(part)
    while lines and not lines[-1]:
        lines.pop()
    if not any(line.startswith(("+", "-")) for line in lines):
        return
    old = [line[1:] for line in lines if line[:1] != "+"]
    new = [line[1:] for line in lines if line[:1] != "-"]
    if not any(line.strip() for line in old):
        raise NoPatch(
            "A part of the diff only adds lines: give a line of what is around them too, so that it has a place."
        )
    yield Hunk(file, "\n".join(old) + "\n", "\n".join(new) + "\n" if new else "")
