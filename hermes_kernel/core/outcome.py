"""How a turn ended."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a turn ended. `COMPLETED` only with an answer."""

    COMPLETED = "completed"
    BUDGET_EXHAUSTED = "budget_exhausted"
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    EMPTY = "empty"
    FAILED = "failed"

    def __repr__(self) -> str:
        return repr(self.value)  # it is read in cells, and compared with a text

    @property
    def words(self) -> str:
        """As a person would write it."""
        return self.value.replace("_", " ")
