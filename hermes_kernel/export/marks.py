"""Pieces of Markdown that hold what anybody said. Keeps true: nothing in it takes effect, nothing breaks out of it."""

from __future__ import annotations

import json
import re

from hermes_kernel.core.safe import clean, escape, inert, sanitise
from hermes_kernel.core.text import brief

TICKS = re.compile(r"`+")
PLAIN = re.compile(r"[\w.:/@+, -]+", re.ASCII)


def fence(text: str, language: str = "") -> str:
    """`text` as code. The fence is longer than any run of backticks in it."""
    body = clean(text).replace("\u2028", "\n").replace("\u2029", "\n")
    mark = "`" * max(3, 1 + max((len(run) for run in TICKS.findall(body)), default=0))
    return f"{mark}{language}\n{body}\n{mark}"


def span(text: str) -> str:
    """A name or a path within a line."""
    line = clean(" ".join(text.split()))
    return f"`{line}`" if PLAIN.fullmatch(line) else words(line)


def words(text: str) -> str:
    """`text` on one line, every mark of Markdown in it a mere character."""
    return inert(" ".join(text.split()))


def heading(title: str) -> str:
    """A title as it may follow a ``#``."""
    return words(brief(title, 200))


def quote(markdown: str) -> str:
    """`markdown` of a person, quoted."""
    return "\n".join(f"> {line}".rstrip() for line in sanitise(markdown).split("\n"))


def fold(summary: str, *inside: str) -> str:
    """Blocks behind one line that opens on them."""
    body = "\n\n".join(inside)
    return f"<details>\n<summary>{escape(' '.join(summary.split()))}</summary>\n\n{body}\n\n</details>"


def arguments(name: str, given: str) -> str:
    """What a tool was called with: code as code, the rest as JSON, what is neither as it came."""
    try:
        values = json.loads(given or "{}")
    except ValueError:
        return fence(given)
    if name == "python" and isinstance(values, dict) and list(values) == ["code"] and isinstance(values["code"], str):
        return fence(values["code"], "python")
    return fence(json.dumps(values, ensure_ascii=False, indent=2), "json")
