"""What models have used, as a table: over the whole home, or beside one conversation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hermes_kernel.core.figures import counted
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.looking.lineage import sessions_of
from hermes_kernel.view.kept.finds import short
from hermes_kernel.world.store import By, Store, UsageRow
from hermes_kernel.world.store.asking.spending import spent_beside

BY: tuple[By, ...] = ("kind", "model", "day", "session")
MEASURES = ("sessions", "calls", "input tokens", "of them cached", "output tokens", "of them reasoning")
PARTS = ("input", "input from a cache", "output")
COST = "cost in US$"
MOST = 30  # sessions that have a line of their own; the rest have one together
UNKNOWN = "(not told)"  # calls that were stopped and side work do not say which model it was
ESTIMATED = "Partly estimated: an endpoint did not say."


@dataclass(frozen=True, slots=True)
class Spending:
    """What was used, by one of `BY`."""

    by: By
    rows: tuple[UsageRow, ...]

    @property
    def total(self) -> Usage:
        """All of it."""
        return sum((row.usage for row in self.rows), Usage())

    @property
    def note(self) -> str:
        """What is to be said of the numbers, or nothing."""
        return ESTIMATED if self.total.estimated else ""

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
        """Names of columns, and rows with the total below them; nothing where nothing was used."""
        if not self.rows:
            return (), ()
        costs = bool(self.total.cost)
        rows = [(*self._name(row), *_measures(row.sessions, row.usage, costs=costs)) for row in self._shown]
        rows.append(("total", *[""] * (len(self._names()) - 1), *_measures(self._sessions(), self.total, costs=costs)))
        return (*self._names(), *MEASURES, *([COST] if costs else [])), tuple(rows)

    @property
    def bars(self) -> tuple[tuple[str, tuple[int, int, int]], ...]:
        """Each of the rows that `table` has, but their total, as parts of a bar: `PARTS`."""
        return tuple((dotted(*self._name(row)), parts(row.usage)) for row in self._shown)

    @property
    def costs(self) -> tuple[tuple[str, tuple[float]], ...]:
        """The same with what each cost; none where no server says."""
        if not self.total.cost:
            return ()
        return tuple((dotted(*self._name(row)), (row.usage.cost,)) for row in self._shown)

    @property
    def _shown(self) -> tuple[UsageRow, ...]:
        return _fewer(self.rows, self.by)

    def plain(self) -> dict[str, Any]:
        """As JSON says it."""
        rows = [
            {"name": row.name, "title": row.title, "sessions": row.sessions, **_plain(row.usage)} for row in self.rows
        ]
        return {"by": self.by, "rows": rows, "total": _plain(self.total)}

    def _names(self) -> tuple[str, ...]:
        return ("session", "title") if self.by == "session" else (self.by,)

    def _name(self, row: UsageRow) -> tuple[str, ...]:
        if self.by == "session":
            return short(row.name), brief(row.title, 50)
        return (row.name or UNKNOWN,)

    def _sessions(self) -> int | None:
        """Of a model or a day it cannot be told: one session may have several."""
        return sum(row.sessions for row in self.rows) if self.by in ("kind", "session") else None


def spending(store: Store, by: By = "kind", days: int | None = None) -> Spending:
    """Everything that was used in the home, or in the last `days` days, today (in UTC) included.

    Raises:
        StoreError: the store cannot be read.
    """
    return Spending(by, store.usage(days, by))


def beside(store: Store, session: str) -> tuple[UsageRow, ...]:
    """What was used beside the conversation with this session and is not in its own account, by kind.

    Raises:
        StoreError: the store cannot be read.
    """
    return spent_beside(store.home, sessions_of(store, session))


def parts(used: Usage) -> tuple[int, int, int]:
    """Tokens that add up to all there were: read anew, read from a cache, written."""
    cached = min(used.cached_tokens, used.input_tokens)
    return used.input_tokens - cached, cached, used.output_tokens


def _fewer(rows: tuple[UsageRow, ...], by: By) -> tuple[UsageRow, ...]:
    """Those with the most, and the rest as one."""
    if by != "session" or len(rows) <= MOST + 1:
        return rows
    rest = rows[MOST:]
    return (
        *rows[:MOST],
        UsageRow("", counted(len(rest), "more session"), len(rest), sum((each.usage for each in rest), Usage())),
    )


def _measures(sessions: int | None, used: Usage, *, costs: bool) -> tuple[Any, ...]:
    counts = (used.calls, used.input_tokens, used.cached_tokens, used.output_tokens, used.reasoning_tokens)
    return (sessions, *counts, *([f"{used.cost:.4f}"] if costs else []))


def _plain(usage: Usage) -> dict[str, Any]:
    return {**asdict(usage), "tokens": usage.input_tokens + usage.output_tokens}
