"""The rows of a file that a person names: a .csv with a line of names, or a .jsonl with an object a line.

What would lose a cell without a word is refused: nothing has been asked then.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hermes_kernel.cli.trouble import Failure, Misuse
from hermes_kernel.core.text import brief

LONGEST = 20_000_000  # characters of a cell, as of a prompt; the module's own limit is 131,072
OTHERS = {";": "semicolons", "\t": "tabs"}  # what stands between cells in files that are called .csv


def rows_in(path: Path) -> list[dict[str, Any]]:
    """The rows, in their order.

    Raises:
        Misuse: it is no such file, or a row of it cannot be told.
        Failure: there is no file, or it may not be read.
    """
    read = {".csv": _table, ".jsonl": _objects}.get(path.suffix.lower())
    if read is None:
        raise Misuse(f"{path.name} is neither .csv nor .jsonl: give a table with a line of names, or an object a line.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(read(file))
    except csv.Error as error:
        raise Misuse(f"{path.name} cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        raise Misuse(f"{path.name} is no UTF-8, at its byte {error.start:,}: save it as that.") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from None


def _table(file: Iterable[str]) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(LONGEST)
    rows = csv.reader(file, strict=True)
    names = next(rows, [])
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Misuse(f"Two columns are called {brief(twice, 60)}: rename one of them.")
    if other := next((word for mark, word in OTHERS.items() if len(names) == 1 and mark in names[0]), ""):
        raise Misuse(f"There are {other} between its cells: write it with commas.")
    for cells in filter(None, rows):
        if len(cells) > len(names):
            told = f"{len(cells)} cells and the table {len(names)} columns"
            raise Misuse(f"Line {rows.line_num} has {told}: put quotes around a cell with a comma in it.")
        yield dict(zip(names, cells + [None] * (len(names) - len(cells)), strict=True))


def _objects(file: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, 1):
        if line.strip():
            yield _object(number, line)


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
        json.dumps(row, allow_nan=False)  # it is told again with its answer, when that is paid for
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise Misuse(f"Line {number} is no JSON object.")
    return row
