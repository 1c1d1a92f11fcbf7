"""Entries as text: how a file is read, whoever wrote it, and what a new entry may consist of. Nothing that goes into a
file comes out of it as another number of entries, here or in the original."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from hermes_kernel.core.learning.memory import SEPARATOR, MemoryRefused
from hermes_kernel.core.text import scrub

MARK = "§"
SPLIT = re.compile(r"^[^\S\n]*§[^\S\n]*$", re.MULTILINE)
BREAKS = re.compile("\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
FRAME = re.compile(r"\s*\[\s*(?:end of\s+)?(?:memory|user)\.md\b", re.IGNORECASE)
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that look like nothing."""
HIDDEN = frozenset({"Cc", "Cf", "Co"})
JOINERS = "\u200c\u200d"
MARKED = b"\xef\xbb\xbf"  # how UTF-8 begins where a byte order mark is written
WIDE = (b"\xff\xfe", b"\xfe\xff")  # and UTF-16


@dataclass(frozen=True, slots=True)
class Reading:
    """The entries of a file. ``faithful``: written again they are the same file, but for white space around it."""

    entries: tuple[str, ...]
    faithful: bool


@dataclass(frozen=True, slots=True)
class Tidied:
    """An entry as it may be written, and sentences on what was taken out of it."""

    text: str
    notes: tuple[str, ...] = ()


def read(raw: bytes) -> Reading:
    """What stands in a file, however it was saved: with or without a byte order mark, with the line ends of any system,
    with white space beside the separators; bytes that are no text become U+FFFD."""
    text, exact = _decoded(raw)
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    entries = tuple(entry for part in SPLIT.split(lines) if (entry := part.strip()))
    return Reading(entries, exact and SEPARATOR.join(entries) == text.strip())


def _decoded(raw: bytes) -> tuple[str, bool]:
    if raw.startswith(WIDE):
        return raw.decode("utf-16", "replace"), False
    try:
        return raw.decode().removeprefix("\ufeff"), not raw.startswith(MARKED)
    except UnicodeDecodeError:
        return raw.decode("utf-8-sig", "replace"), False


def tidied(text: str, redact: Callable[[str], str] = str) -> Tidied:
    """`text` as an entry: one kind of line end, nothing that cannot be seen, no secret that `redact` knows.

    Raises:
        MemoryRefused: it has a line that separates entries, or one that looks like the frame they are shown in, or
            nothing is left of it.
    """
    plain = BREAKS.sub("\n", scrub(text))
    seen = "".join(c for n, c in enumerate(plain) if c in "\n\t" or not _is_hidden(plain, n))
    safe = redact(seen).strip()
    if not safe:
        raise MemoryRefused("The entry is empty: there is nothing in it that can be seen. Nothing was changed.")
    for line in safe.split("\n"):
        _may_stand(line)
    count = len(plain) - len(seen)
    hidden = (f"{count:,} invisible or control characters were taken out.",) if count else ()
    secret = ("A secret was taken out: passwords, keys and tokens are not kept.",) if safe != seen.strip() else ()
    return Tidied(safe, hidden + secret)


def _is_hidden(text: str, n: int) -> bool:
    c = text[n]
    if c in JOINERS and 0 < n < len(text) - 1:
        return not (_is_joined(text[n - 1]) and _is_joined(text[n + 1]))
    return unicodedata.category(c) in HIDDEN or c in FILLERS or "\U000e0100" <= c <= "\U000e01ef"


def _is_joined(c: str) -> bool:
    """It is of a script, or a picture, in which joiners make a difference to the eye."""
    return c >= "\u0590" and unicodedata.category(c)[0] in "LMS"


def _may_stand(line: str) -> None:
    plain = unicodedata.normalize("NFKC", line)
    bare = "".join(c for c in plain if not c.isspace() and unicodedata.category(c)[0] not in "MC")
    if set(bare) == {MARK}:
        raise MemoryRefused(
            f"A line of an entry cannot be {MARK} alone, which stands between entries: leave it out, or add two "
            f"entries. Nothing was changed."
        )
    if FRAME.match(plain):
        raise MemoryRefused(
            "A line of an entry cannot begin like the frame in which entries are shown ([MEMORY.md or [USER.md): "
            "say it otherwise. Nothing was changed."
        )
