"""What a command shows: a small table or a page that is also a value. Everything in it is words, whoever wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

from hermes_kernel.core.safe import NO_MATH
from hermes_kernel.view import escape
from hermes_kernel.view.columns import aligned, said
from hermes_kernel.view.words import typed

CELL = 'style="text-align:left;vertical-align:top;white-space:pre-wrap"'
TIMED = 'style="text-align:left;vertical-align:top;white-space:nowrap"'
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?: UTC)?")


class Shown(Protocol):
    """What a command gives: something to look at, and the value a program wants of it."""

    @property
    def value(self) -> Any: ...

    def plain(self) -> Shown:
        """The same as text only."""
        ...


def bundle(shown: Shown) -> dict[str, str]:
    """The document that `shown` is, as notebooks keep it."""
    made = {"text/plain": repr(shown)}
    for mime, name in (("text/html", "_repr_html_"), ("text/markdown", "_repr_markdown_")):
        if said := getattr(shown, name, None):
            made[mime] = said()
    return made


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """Text, and the same as HTML, that somebody else has made safe."""

    text: str
    html: str
    value: Any = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    def plain(self) -> PlainPage:
        return PlainPage(self.text, "", self.value)


@dataclass(frozen=True, slots=True, repr=False)
class PlainPage(Page):
    """The same as text only."""

    _repr_html_ = None  # type: ignore[assignment]

    def plain(self) -> Self:
        return self


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
        return "\n".join([*aligned(self.columns, self.rows), *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        head = "".join(f"<th {CELL}>{escape(name)}</th>" for name in self.columns)
        rows = "".join(f"<tr>{_cells(row)}</tr>" for row in self.rows)
        top = f"<thead><tr>{head}</tr></thead>" if any(self.columns) else ""
        note = f'<div class="{NO_MATH}">{typed(escape(self.note))}</div>' if self.note else ""
        return f'<table class="hermes-table {NO_MATH}">{top}<tbody>{rows}</tbody></table>{note}'

    def plain(self) -> PlainTable:
        return PlainTable(self.columns, self.rows, self.value, self.note)


@dataclass(frozen=True, slots=True, repr=False)
class PlainTable(Table):
    """The same as text only."""

    _repr_html_ = None  # type: ignore[assignment]

    def plain(self) -> Self:
        return self


def facts(*rows: tuple[str, Any], value: Any = None, note: str = "") -> Table:
    """Names and what they stand for. The value is a dict of them, unless another is given."""
    return Table(("", ""), rows, dict(rows) if value is None else value, note)


def _cells(row: tuple[Any, ...]) -> str:
    return "".join(f"<td {TIMED if TIME.fullmatch(text := said(cell)) else CELL}>{escape(text)}</td>" for cell in row)
