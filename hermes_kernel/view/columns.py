"""Rows under columns as text, each row on one line, whatever its cells hold. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hermes_kernel.core.safe import clean


def said(cell: Any) -> str:
    """A value as a person reads it in a table."""
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}"
        case _:
            return clean(str(cell))


def aligned(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A line for the names of the columns, unless they have none, and one for each row."""
    lines = [[" ".join(said(cell).split("\n")) for cell in row] for row in (columns, *rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return text if any(columns) else text[1:]
