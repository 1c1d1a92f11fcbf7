"""Which rows of a map are settled and which are still to be asked, as the facts of earlier runs say."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_kernel.core.messages import Usage
from hermes_kernel.mapping.ledger import Ledger
from hermes_kernel.mapping.outcome import Row, RowOutcome, calls_of, row_of
from hermes_kernel.mapping.prompts import Prompts

ANSWERED = frozenset({RowOutcome.COMPLETED, RowOutcome.NOT_ASKED})


@dataclass(slots=True)
class Board:
    """``rows`` in their order, None where a row is to be asked. ``asked`` is what it cost to ask such a row before;
    ``kept`` rows are settled by earlier runs, which made ``spent`` model calls in all."""

    rows: list[Row | None]
    asked: dict[int, Usage] = field(default_factory=dict)
    kept: int = 0
    spent: int = 0
    failed: int = 0

    @property
    def open(self) -> list[bool]:
        """Of each row, whether it is to be asked."""
        return [row is None for row in self.rows]

    def settle(self, number: int, row: Row) -> None:
        """Take in how a row ended."""
        self.rows[number] = row
        self.failed += row.outcome not in ANSWERED


def looked_back(ledger: Ledger, prompts: Prompts, again: frozenset[str]) -> Board:
    """What earlier runs of a map have left. Rows with an outcome of `again` are to be asked anew.

    Raises:
        StoreError: the store cannot be read.
    """
    board = Board([None] * len(prompts))
    numbers = {ledger.row(number): number for number in range(len(prompts))}
    for session_id, facts in ledger.before(len(prompts)):
        number = numbers.get(session_id)
        if number is None:
            continue
        board.spent += calls_of(facts)
        row = row_of(prompts.keys[number], session_id, facts)
        if row.outcome is RowOutcome.NOT_ASKED or row.outcome in again:
            board.asked[number] = row.usage
        else:
            board.settle(number, row)
            board.kept += 1
    return board
