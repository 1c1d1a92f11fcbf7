"""``[SILENT]``: how an answer asks that no one be told of it.

The mark stands alone on the first or the last line that is not blank, in any case; emphasis, backticks or quotes around
it and a full stop behind it are how models write, and change nothing. Anywhere else, in a sentence or in the middle of
a code block, it is a word: who would be told by mistake loses less than who is not told.
"""

from __future__ import annotations

import re

MARK = "[SILENT]"
ALONE = re.compile(r"[*_`\"' \t]*\[SILENT\][*_`\"'. \t]*", re.IGNORECASE)


def asks_silence(text: str) -> bool:
    """Whether the first or the last line that is not blank is the mark."""
    lines = _lines(text)
    return bool(lines) and (_is_mark(lines[0]) or _is_mark(lines[-1]))


def without_mark(text: str) -> str:
    """`text` as it is to be read: without the marks at its ends and the blank lines around it."""
    lines = _lines(text)
    while lines and _is_mark(lines[0]):
        lines = _filled(lines[1:])
    while lines and _is_mark(lines[-1]):
        lines = _filled(lines[:-1])
    return "\n".join(lines)


def _is_mark(line: str) -> bool:
    return ALONE.fullmatch(line.strip()) is not None


def _lines(text: str) -> list[str]:
    return _filled(text.splitlines())


def _filled(lines: list[str]) -> list[str]:
    """`lines` from the first to the last that is not blank."""
    filled = [n for n, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []
