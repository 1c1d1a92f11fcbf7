"""Text that every provider, file and database accepts: no lone surrogates, and bounded where it must be."""

from __future__ import annotations

import json
import re
from typing import Any

# between them stands in a prompt what the person ran since the last one
CELLS = "[Cells the person ran in this notebook since the last turn]"
END_OF_CELLS = "[End of cells]"

FENCED = re.compile(r"(^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z))", re.MULTILINE | re.DOTALL)
"""Splits a prompt at its ``` fences, in which ``$`` and ``@`` stand for themselves: each second part is one."""

REPLACEMENT = "\ufffd"


def scrub(text: str) -> str:
    """`text` with halves of a surrogate pair joined and lone ones replaced by U+FFFD.

    Models cut a pair in two between chunks, and tools decode bytes with ``surrogateescape``; either makes text that
    no UTF-8 encoder takes. Well-formed text is returned as it is, unchanged and uncopied.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def as_json(value: Any, separators: tuple[str, str] | None = None) -> str:
    """`value` in one line; a lone half of a surrogate pair is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=separators)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, separators=separators)
    return text


def dotted(*parts: str) -> str:
    """Those of `parts` that say something, with a dot between: ``failed · 1.2 s``."""
    return " · ".join(part for part in parts if part)


def brief(text: str, limit: int) -> str:
    """One line of at most `limit` characters, ending in an ellipsis where something was left out."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)] + "…"
