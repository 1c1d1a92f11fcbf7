"""A bounded, useful view of a variable for a model: what it is and what a person would look at first.

Imports nothing that the person has not imported: frames and arrays are known by the module their type comes from.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

MOST = 4000  # characters of one view
INLINE = 120  # characters of a value that still fits into a sentence
ROWS, COLUMNS = 5, 40  # of a table


def view(value: Any) -> str:
    """`value` in at most `MOST` characters. Raises whatever its `__repr__` raises."""
    text = _look(type(value))(value)
    return text if len(text) <= MOST else f"{text[:MOST]}\n[… {len(text) - MOST:,} more characters]"


def inline(text: str) -> bool:
    """A view short enough to stand in the sentence that asked for it."""
    return len(text) <= INLINE and "\n" not in text


def kind(value: Any) -> str:
    """The type's name as it is imported."""
    made = type(value)
    return made.__name__ if made.__module__ in ("builtins", "__main__") else f"{_root(made)}.{made.__name__}"


def frame(value: Any) -> bool:
    """A table with rows and columns, of pandas or polars."""
    return _look(type(value)) in (_frame, _polars)


def _root(made: type) -> str:
    return made.__module__.partition(".")[0]


def _look(made: type) -> Callable[[Any], str]:
    looks = (LOOKS.get(f"{_root(each)}.{each.__name__}") for each in made.__mro__)
    return next(filter(None, looks), str if issubclass(made, str) else _plain)


def _frame(frame: Any) -> str:
    """Shape, the columns with their types and gaps, and the first rows."""
    columns = [f"  {name}: {kind}" for name, kind in list(zip(frame.columns, frame.dtypes, strict=True))[:COLUMNS]]
    more = [f"  … {len(frame.columns) - COLUMNS} more columns"] if len(frame.columns) > COLUMNS else []
    head = frame.iloc[:ROWS, :COLUMNS].to_string(max_colwidth=60)
    return "\n".join([_shape(frame), "columns:", *columns, *more, f"first {min(ROWS, len(frame))} rows:", head])


def _series(series: Any) -> str:
    return "\n".join(
        [f"{len(series):,} values of {series.dtype}, name {series.name!r}", series.iloc[: 2 * ROWS].to_string()]
    )


def _polars(frame: Any) -> str:
    columns = [f"  {name}: {kind}" for name, kind in list(frame.schema.items())[:COLUMNS]]
    return "\n".join([_shape(frame), "columns:", *columns, f"first rows:\n{frame.head(ROWS)}"])


def _array(array: Any) -> str:
    return f"array of shape {array.shape}, {array.dtype}\n{reprlib.repr(array.reshape(-1)[:20].tolist())}"


def _shape(frame: Any) -> str:
    rows, columns = frame.shape
    return f"{rows:,} rows × {columns:,} columns"


def _plain(value: Any) -> str:
    """The value's own words, long collections cut before they are written out."""
    if isinstance(value, (list, tuple, set, frozenset, dict, bytes, bytearray)) and len(value) > SHORT:
        return f"{kind(value)} of {len(value):,}: {_BRIEF.repr(value)}"
    return repr(value)


SHORT = 50  # items that are all shown
_BRIEF = reprlib.Repr()
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxset = _BRIEF.maxfrozenset = _BRIEF.maxdict = 30
_BRIEF.maxstring = _BRIEF.maxother = 300

LOOKS: dict[str, Callable[[Any], str]] = {
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "polars.DataFrame": _polars,
    "numpy.ndarray": _array,
}
