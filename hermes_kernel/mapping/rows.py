"""Rows as they are given (a frame, a list, a stream of mappings) as one kind of thing: a key, and cells by their names.

Imports no library of frames: one that is given has been imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError

SCALAR = "value"  # the name of the only cell of a row that is no mapping
KINDS = "a DataFrame, a list of dicts, a list of values, or anything that yields mappings"

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """``columns`` are those known before a row is read; ``index`` is the frame's own, or None."""

    records: Iterable[tuple[Any, Record]]
    columns: tuple[str, ...] = ()
    index: Any = None


def rows_of(given: Any) -> Rows:
    """Raises:
    HermesError: it holds no rows, or two columns have one name.
    """
    for made in type(given).__mro__:  # a GeoDataFrame is a DataFrame, too
        match f"{made.__module__.partition('.')[0]}.{made.__name__}":
            case "pandas.DataFrame":
                return _frame(given)
            case "pandas.Series":
                return Rows(((key, {SCALAR: value}) for key, value in given.items()), (SCALAR,), given.index)
            case "polars.DataFrame":
                return Rows(enumerate(given.iter_rows(named=True)), tuple(given.columns))
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise HermesError(f"Rows cannot be a {brief(type(given).__name__, 40)}: give {KINDS}.")
    return Rows(_each(given))


def _frame(frame: Any) -> Rows:
    columns = tuple(map(str, frame.columns))
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise HermesError(f"Two columns are called {brief(twice, 60)}: rename one of them.")
    cells = frame.itertuples(index=False, name=None) if columns else (() for _ in range(len(frame)))
    records = ((key, dict(zip(columns, row, strict=True))) for key, row in zip(frame.index, cells, strict=True))
    return Rows(records, columns, frame.index)


def _each(given: Iterable[Any]) -> Iterator[tuple[int, Record]]:
    """Rows of one kind: all mappings, or all values."""
    mappings: bool | None = None
    for n, row in enumerate(given):
        mappings = isinstance(row, Mapping) if mappings is None else mappings
        if isinstance(row, Mapping) is not mappings:
            kind = brief(type(row).__name__, 40)
            raise HermesError(f"Row {n} is a {kind}, and those before it are of another kind: give rows of one kind.")
        yield n, ({str(name): cell for name, cell in row.items()} if isinstance(row, Mapping) else {SCALAR: row})
