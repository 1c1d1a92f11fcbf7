"""Values that a wish can have, read from what JSON, Python or a command line can say; and said again in a refusal."""

from __future__ import annotations

import json
import keyword
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hermes_kernel.checks import LONGEST
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
SPAN = re.compile(r"(?:\d+(?:\.\d+)?[smhd]\s*)+")
PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")  # also one of which a slash is missing
LARGEST = 1e12  # of a number that is looked at: not one too large for a float
SPAN_CHARS, SHOWN_CHARS = 60, 60


def shown(value: object) -> str:
    """What was wished, in one line that no one is harmed by; of an address, which may have a key in it, nothing."""
    if not isinstance(value, str | int | float | list | tuple | dict | Path | None):
        return f"a {type(value).__name__}"
    try:
        text = ascii(value) if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):  # a list within itself without end, a number of a million digits
        return f"such a {type(value).__name__}"
    return "an address" if ADDRESS.search(text) else brief(text, SHOWN_CHARS)


def one_of(choices: Sequence[str]) -> str:
    """``skip, once or all``."""
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def is_variable(name: str) -> bool:
    """Python can assign to it, and reads it as it is written: some letters are to Python those of another name."""
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return plain and not keyword.iskeyword(name) and not name.startswith("__")


def names(what: str, wish: Any) -> tuple[str, ...]:
    """Names in a list, or in a text with commas between them; each once."""
    text = isinstance(wish, str)
    parts: Iterable[Any] = _split(wish) if text else wish if isinstance(wish, Iterable) else (wish,)
    found: list[str] = []
    for part in parts:
        if not isinstance(part, str) or not part.isprintable() or scrub(part) != part:
            raise HermesError(f"{what} cannot have {shown(part)} in it: it must be names.")
        found.append(part.strip())
    return tuple(dict.fromkeys(filter(None, found)))


def _split(text: str) -> list[str]:
    """At the commas, unless it is an address, which may have some."""
    return [text] if "://" in text else text.split(",")


def seconds(name: str, wish: Any) -> float:
    """A span of time, in seconds, at most a week: a number of them, or a text such as ``90s``, ``2h`` or ``1h30m``."""
    found = _span(wish)
    if found is None or not math.isfinite(found) or not 0 <= found <= LONGEST:
        raise HermesError(
            f"{name} cannot be {shown(wish)}: it must be seconds, or a time such as 90s, 10m or 2h; 7d at most."
        )
    return found


def _span(wish: Any) -> float | None:
    if isinstance(wish, int | float) and not isinstance(wish, bool):
        return float(wish) if abs(wish) < LARGEST else None
    text = wish.strip().lower()[:SPAN_CHARS] if isinstance(wish, str) else ""
    if SPAN.fullmatch(text):
        return sum(float(number) * UNITS[unit] for number, unit in PART.findall(text))
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text) else None


def json_text(name: str, value: Any) -> str:
    """The value of the parameter `name` as JSON. `HermesError`: it cannot be."""
    text = _written(value)
    if text is None:
        raise HermesError(
            f"The parameter {name} cannot be {shown(value)}: it must be what JSON can say (texts, numbers, true, "
            "false, null, lists, and objects with texts for names)."
        )
    return scrub(text)


def _written(value: Any) -> str | None:
    """`value` as JSON; None where it would come back as another."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return text if json.loads(text) == _listed(value) else None
    except (TypeError, ValueError, RecursionError):
        return None


def _listed(value: Any) -> Any:
    """`value` as it comes back from JSON: tuples are lists."""
    match value:
        case list() | tuple():
            return [_listed(each) for each in value]
        case dict():
            return {name: _listed(each) for name, each in value.items()}
    return value
