"""What a command shows: a small table that is also a value. Everything in it is words, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hermes_kernel.view import clean, escape

CELL = 'style="text-align:left;vertical-align:top;white-space:pre-wrap"'


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Rows under columns. ``value`` is what a program wants of it; ``note`` stands below. Iterates over its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    value: Any = None
    note: str = ""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        lines = [[_said(cell) for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(len(line[n]) for line in lines) for n in range(len(self.columns))]
        text = [_line(line, widths) for line in lines]
        shown = text if any(self.columns) else text[1:]
        return "\n".join([*shown, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        head = "".join(f"<th {CELL}>{escape(name)}</th>" for name in self.columns)
        rows = "".join(f"<tr>{_cells(row)}</tr>" for row in self.rows)
        top = f"<thead><tr>{head}</tr></thead>" if any(self.columns) else ""
        note = f"<div>{escape(self.note)}</div>" if self.note else ""
        return f'<table class="hermes-table">{top}<tbody>{rows}</tbody></table>{note}'


@dataclass(frozen=True, slots=True, repr=False)
class PlainTable(Table):
    """The same as text only."""

    _repr_html_ = None  # type: ignore[assignment]


def facts(*rows: tuple[str, Any], value: Any = None, note: str = "") -> Table:
    """Names and what they stand for. The value is a dict of them, unless another is given."""
    return Table(("", ""), rows, dict(rows) if value is None else value, note)


def _line(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cells(row: tuple[Any, ...]) -> str:
    return "".join(f"<td {CELL}>{escape(_said(cell))}</td>" for cell in row)


def _said(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}"
        case _:
            return clean(str(cell))
