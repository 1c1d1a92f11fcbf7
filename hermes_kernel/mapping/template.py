"""One prompt for many rows: ``$column`` stands for a cell, ``${any column}`` for one whose name is no word, ``$row``
for the whole row, ``$$`` for a dollar. ``{}`` is literal. What a cell says is put in as it is and not read again.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date
from numbers import Real
from typing import Any

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError

WHOLE = "row"
SHOWN = 12  # columns that a refusal names
MARK = re.compile(r"\$(?:(?P<dollar>\$)|(?P<word>[^\W\d]\w*)|\{(?P<any>[^{}\n]+)\})")
MISSING = frozenset({"NAType", "NaTType"})  # pandas' own, known by name so that pandas need not be there


class Template:
    """A template, read once. ``names`` are the columns it asks for, in the order of asking."""

    def __init__(self, text: Any) -> None:
        """Raises:
        HermesError: there is nothing in it.
        """
        if not isinstance(text, str) or not text.strip():
            raise HermesError("The template is empty. Say what is to be asked of each row, with $column for a cell.")
        self.text: str = text
        self.names = tuple(dict.fromkeys(_name(mark) for mark in MARK.finditer(text) if not mark["dollar"]))

    def check(self, columns: Iterable[str]) -> None:
        """Raises:
        HermesError: a name is no column; the text says which and what the columns are.
        """
        known = list(columns)
        for name in self.names:
            if name not in known and name != WHOLE:
                close = difflib.get_close_matches(name, known, 1)
                hint = f" Did you mean ${close[0]}?" if close else ""
                raise HermesError(
                    f"There is no column ${brief(name, 60)}.{hint} The columns are: {_listed(known)}. "
                    "($$ is a literal dollar.)"
                )

    def cells(self, record: Mapping[str, Any]) -> dict[str, str]:
        """What this row puts in for each name. A cell that is missing says nothing."""
        return {
            name: said(record) if name == WHOLE and name not in record else said(record.get(name))
            for name in self.names
        }

    def fill(self, cells: Mapping[str, str]) -> str:
        """The prompt of a row with these cells."""
        return MARK.sub(lambda mark: "$" if mark["dollar"] else cells[_name(mark)], self.text).strip()


def said(value: Any) -> str:
    """A cell as a model reads it: missing ones as nothing, dates as ISO 8601, collections as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (Mapping, list, tuple)):
        return _as_json(value)
    if _is_missing(value):
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in MISSING or (isinstance(value, Real) and math.isnan(value))


def _as_json(value: Any) -> str:
    try:
        return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, default=said)
    except (TypeError, ValueError, RecursionError):  # keys that JSON has no form for; a collection within itself
        return str(value)


def _plain(value: Any) -> Any:
    """With null for what is missing, and in words what JSON has no number for."""
    if isinstance(value, Mapping):
        return {key: _plain(cell) for key, cell in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(cell) for cell in value]
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return None if _is_missing(value) else value


def _name(mark: re.Match[str]) -> str:
    return mark["word"] or mark["any"]


def _listed(columns: list[str]) -> str:
    more = f" and {len(columns) - SHOWN:,} more" if len(columns) > SHOWN else ""
    return (", ".join(brief(name, 40) for name in columns[:SHOWN]) or "none") + more
