"""What a command shows: a small table or a page that is also a value. Everything in it is words, whoever wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from hermes_kernel.core.safe import NO_MATH, clean
from hermes_kernel.view import escape
from hermes_kernel.view.columns import aligned, said
from hermes_kernel.view.markup import scrolled, typed

TABLE = 'style="table-layout:auto;margin:0 auto 0.5em 0;border-collapse:collapse;font-variant-numeric:tabular-nums"'
CELL = "vertical-align:top;white-space:pre-wrap"
WORDS, NUMBER = "text-align:left", "text-align:right"
WIDE, NARROW = ";min-width:14em;max-width:70em;overflow-wrap:anywhere", ";white-space:nowrap"
SHORT = 24  # characters that are never broken, so that no column is narrower than what is in it
FIGURE = re.compile(r"[-+$]?\d[\d,]*(?:\.\d+)?(?: ?(?:%|s|ms|kB|MB))?")


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


def as_it_stands(text: str, value: Any = None) -> Page:
    """Text that is a page, line by line."""
    return Page(clean(text), f'<pre class="{NO_MATH}" style="white-space:pre-wrap">{escape(text)}</pre>', value)


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Rows under columns. ``value`` is what a program wants of it; ``note`` stands below. Iterates over its rows. Of
    more rows than ``most`` only so many are shown, which is said; a program has them all."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    value: Any = None
    note: str = ""
    most: int | None = field(default=None, kw_only=True)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return "\n".join([*aligned(self.columns, self._seen), *([self._said] if self._said else [])])

    def _repr_html_(self) -> str:
        looks = [_look(column) for column in zip(*self._seen, strict=True)] or [WORDS] * len(self.columns)
        head = "".join(_cell("th", name, look) for name, look in zip(self.columns, looks, strict=True))
        rows = "".join(
            f"<tr>{''.join(_cell('td', said(cell), look) for cell, look in zip(row, looks, strict=True))}</tr>"
            for row in self._seen
        )
        top = f"<thead><tr>{head}</tr></thead>" if any(self.columns) else ""
        table = f'<table class="hermes-table {NO_MATH}" {TABLE}>{top}<tbody>{rows}</tbody></table>'
        note = f'<div class="{NO_MATH}">{typed(escape(self._said))}</div>' if self._said else ""
        return (scrolled(table, _named(self.columns)) if self.columns else "") + note

    def plain(self) -> PlainTable:
        return PlainTable(self.columns, self.rows, self.value, self.note, most=self.most)

    @property
    def _seen(self) -> tuple[tuple[Any, ...], ...]:
        return self.rows[: self.most]

    @property
    def _said(self) -> str:
        left = len(self.rows) - len(self._seen)
        cut = f"The first {len(self._seen):,} of {len(self.rows):,} are shown." if left else ""
        return "\n".join(filter(None, (cut, self.note)))


@dataclass(frozen=True, slots=True, repr=False)
class PlainTable(Table):
    """The same as text only."""

    _repr_html_ = None  # type: ignore[assignment]

    def plain(self) -> Self:
        return self


def facts(*rows: tuple[str, Any], value: Any = None, note: str = "") -> Table:
    """Names and what they stand for. The value is a dict of them, unless another is given."""
    return Table(("", ""), rows, dict(rows) if value is None else value, note)


def _look(column: Sequence[Any]) -> str:
    """Figures stand below one another by their last digit; words begin at the left."""
    texts = [said(cell) for cell in column if cell not in (None, "")]
    return NUMBER if texts and all(FIGURE.fullmatch(text) for text in texts) else WORDS


def _cell(tag: str, text: str, look: str) -> str:
    longest = max(map(len, text.split("\n")), default=0)
    return (
        f'<{tag} style="{look};{CELL}{WIDE if longest > SHORT else NARROW if longest else ""}">{escape(text)}</{tag}>'
    )


def _named(columns: Sequence[str]) -> str:
    return ", ".join(filter(None, columns)) or "facts"
