"""A person's own SQL. It can read the store and nothing else: DuckDB itself has it open read-only, with files, network
and settings shut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store import Store

ROWS = 1_000  # of an answer, unless more are asked for
CELL = 200  # characters
VIEWS = ("sessions", "messages", "tool_calls", "calls", "facts")
SHUT = "SET enable_external_access = false; SET lock_configuration = true"


class NoAnswer(HermesError):
    """A statement that is no question, or that DuckDB refuses. One readable line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that answer a question. No two columns have one name. ``more``: there were more than were asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False

    def shown(self) -> tuple[tuple[Any, ...], ...]:
        """The rows for a person: every text on one line of at most `CELL` characters."""
        return tuple(tuple(brief(cell, CELL) if isinstance(cell, str) else cell for cell in row) for row in self.rows)


def answer(store: Store, statement: str, most: int = ROWS) -> Answer:
    """What one SELECT says, `most` rows at most.

    Raises:
        NoAnswer: it is not one SELECT, or DuckDB refuses it.
        StoreError: the store cannot be read.
    """
    import duckdb

    with store.connect() as connection:
        try:
            connection.execute(SHUT)
            found = connection.extract_statements(scrub(statement))
            if [each.type.name for each in found] not in (["SELECT"], ["EXPLAIN"]):
                raise NoAnswer("Only one SELECT can be asked; the store changes by what is said, not by SQL.")
            connection.execute(found[0])
            columns = tuple(_apart(column[0] for column in connection.description or ()))
            rows = connection.fetchmany(most + 1)
        except duckdb.Error as error:
            raise NoAnswer(f"{brief(str(error), 300)}{_hint(error)}") from None
    return Answer(columns, tuple(rows[:most]), len(rows) > most)


def _apart(names: Iterable[str]) -> Iterator[str]:
    """The names, with a number behind each that stood there before: ``id``, ``id_1``, as in DuckDB's own frames."""
    taken: set[str] = set()
    for name in names:
        told = next(each for each in chain((name,), (f"{name}_{n}" for n in count(1))) if each.lower() not in taken)
        taken.add(told.lower())
        yield told


def _hint(error: Exception) -> str:
    """What DuckDB cannot know: the names that mean something here."""
    import duckdb

    return f" There are: {', '.join(VIEWS)}." if isinstance(error, duckdb.CatalogException) else ""
