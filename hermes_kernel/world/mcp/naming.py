"""What a model is shown of other people's tools: names that every provider takes, words with nothing hidden in them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable

from hermes_kernel.core.text import scrub

LONGEST = 64  # characters of a tool's name, with every provider
MARK = 6  # hex digits that tell two names apart which would be the same
HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
STRANGE = re.compile(r"[^A-Za-z0-9_-]")
ROUND_EMOJI = frozenset({"\u200d", "\ufe0f", "\ufe0e"})  # a joiner and two selectors: seen


def tool_name(server: str, tool: str, taken: frozenset[str] | set[str] = frozenset()) -> str:
    """``mcp_<server>_<tool>`` as 1 to 64 letters, digits, ``_`` and ``-``. One that is too long, or taken, ends in a
    mark that follows from what the two are called alone."""
    name = f"mcp_{_plain(server)}_{_plain(tool)}"
    if len(name) <= LONGEST and name not in taken:
        return name
    mark = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "replace")).hexdigest()[:MARK]
    return f"{name[: LONGEST - MARK - 1]}_{mark}"


def seen(text: str, limit: int, safe: Callable[[str], str] = str) -> str:
    """`text` with what a person cannot see taken out of it: control, format, private and unassigned characters, among
    them the tags that carry hidden text. Lines stay; at most `limit` characters, and none of what `safe` takes out:
    half a secret, at the end, would be known no more."""
    text = scrub(safe(text[: 4 * limit])).replace("\r\n", "\n")
    kept = "".join(each for each in text if each in "\n\t" or _is_seen(each)).strip()
    return kept if len(kept) <= limit else f"{kept[: limit - 1]}…"


def _is_seen(character: str) -> bool:
    return character in ROUND_EMOJI or unicodedata.category(character) not in HIDDEN


def _plain(text: str) -> str:
    return STRANGE.sub("_", text)
