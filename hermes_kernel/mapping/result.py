"""What a map gives back: a row for each row, countable, readable, and as a frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from hermes_kernel.core.figures import counted
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.safe import clean, inert
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.mapping.outcome import Row, RowOutcome

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10  # rows of a picture
WIDE = 80  # characters of a cell in it
DONE = (RowOutcome.COMPLETED,)
LEFT = (RowOutcome.UNKNOWN, RowOutcome.INTERRUPTED, RowOutcome.FAILED)  # what `again` is there for
COLUMNS = ("outcome", "text", "reason", "calls", "input_tokens", "output_tokens", "cost", "seconds", "session_id")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a map is. ``kept`` of the ``done`` rows were there already and cost nothing this time; ``failed`` counts
    those that ended in any way but an answer; ``running`` rows are being asked. ``seconds`` since it began."""

    done: int
    of: int
    failed: int = 0
    kept: int = 0
    running: int = 0
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class MapResult(Sequence[Row]):
    """The rows of a map, in the order they were given. ``session_id`` is the map's own session, of which each row's is
    a child; ``note`` says in one line why rows were left out, if any were."""

    rows: tuple[Row, ...]
    name: str = ""
    session_id: str = ""
    note: str = ""
    index: Any = None

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def texts(self) -> list[str]:
        """The answers, one for each row; empty where there is none."""
        return [row.text for row in self.rows]

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows that ended in any way but an answer."""
        return tuple(row for row in self.rows if row.outcome not in DONE)

    @property
    def counts(self) -> dict[RowOutcome, int]:
        """How many rows ended in each way, the ways in which none did left out."""
        found = Counter(row.outcome for row in self.rows)
        return {outcome: found[outcome] for outcome in RowOutcome if found[outcome]}

    @property
    def usage(self) -> Usage:
        """Tokens and cost of all rows, those of earlier runs included."""
        return sum((row.usage for row in self.rows), Usage())

    @property
    def left(self) -> tuple[RowOutcome, ...]:
        """The ways in which rows ended that are asked again on demand."""
        return tuple(outcome for outcome in self.counts if outcome in LEFT)

    @property
    def advice(self) -> str:
        """One line on the rows that can be asked again, and how; nothing where there are none."""
        left, counts = self.left, self.counts
        if not left:
            return ""
        told = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in left)
        names = ", ".join(f'"{outcome}"' for outcome in left) + ("," if len(left) == 1 else "")
        return f"Not asked again by themselves: {told}. Map again with again=({names}) to ask, and pay for, them anew."

    def frame(self) -> pd.DataFrame:
        """A DataFrame with a line for each row, under the index of the frame that was given; `HermesError` where there
        is no pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise HermesError(
                "A frame needs pandas: `pip install pandas`. Without it: `texts`, and each row."
            ) from None

        index = [row.key for row in self.rows] if self.index is None else self.index
        return pd.DataFrame([_cells(row) for row in self.rows], columns=list(COLUMNS), index=index)

    def __repr__(self) -> str:
        return f"<MapResult {summary(self)}>"

    def __str__(self) -> str:
        return "\n".join(line for line in (f"{summary(self)}.", self.note, self.advice) if line)

    def _repr_markdown_(self) -> str:
        of = self.failed or self.rows
        shown = of[:SHOWN]
        heads = ("row", "outcome", "text", "reason") if any(row.reason for row in shown) else ("row", "outcome", "text")
        cells = [(_short(str(row.key), 30), row.outcome, _short(row.text), _short(row.reason)) for row in shown]
        lines = [heads, ("---",) * len(heads), *(line[: len(heads)] for line in cells)]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines) if shown else ""
        more = f"and {len(of) - SHOWN:,} more; `frame()` has all" if len(of) > SHOWN else ""
        words = (f"**{inert(summary(self))}**", inert(self.note), inert(self.advice), table, more)
        return "\n\n".join(part for part in words if part)


def summary(result: MapResult) -> str:
    """``2,000 rows: 1,900 completed, 100 failed; 1,950 calls, 12,345 tokens, $0.12``."""
    usage = result.usage
    ways = ", ".join(f"{count:,} {outcome}" for outcome, count in result.counts.items())
    tokens = usage.input_tokens + usage.output_tokens
    spent = f"{counted(usage.calls, 'call')}, {counted(tokens, 'token')}" + (
        f", ${usage.cost:,.4g}" if usage.cost else ""
    )
    return f"{counted(len(result), 'row')}" + (f": {ways}; {spent}" if ways else "")


def _short(text: str, limit: int = WIDE) -> str:
    return inert(clean(brief(text, limit))).replace("|", "&#124;")


def _cells(row: Row) -> tuple[Any, ...]:
    used = row.usage
    return (
        str(row.outcome), row.text, row.reason, used.calls, used.input_tokens, used.output_tokens, used.cost,
        row.seconds, row.session_id,
    )  # fmt: skip
