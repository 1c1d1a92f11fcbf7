"""What calls of models have used, added up from the calls that are on record: each once, whoever it worked for."""

# ruff: noqa: S608 - what is put into SQL here are our own words
from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_kernel.core.messages import Usage
from hermes_kernel.core.search.passages import SPOKEN
from hermes_kernel.world.store import database
from hermes_kernel.world.store.asking.hand import Hand
from hermes_kernel.world.store.asking.kin import Kin
from hermes_kernel.world.store.asking.listing import bring_facts
from hermes_kernel.world.store.places import explaining
from hermes_kernel.world.store.reading import Home
from hermes_kernel.world.store.views import VIEWS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

By = Literal["kind", "model", "day", "session"]

DAY = 86_400
COUNTED = (*sorted(SPOKEN), "subagent")
"""Kinds of sessions below a conversation that are in its own account, or have one of their own."""

SUMS = """
count(DISTINCT c.session), sum(c.calls)::BIGINT, sum(c.input_tokens)::BIGINT, sum(c.output_tokens)::BIGINT,
sum(c.cached_tokens)::BIGINT, sum(c.reasoning_tokens)::BIGINT, sum(c.cost), bool_or(c.estimated)
"""
WHAT = {
    "kind": "s.kind, ''",
    "model": "c.model, ''",
    "day": "CAST(c.time AS DATE)::VARCHAR, ''",
    "session": "c.session, any_value(s.title)",
}
ORDER = {"day": "1 DESC"}
SPENT = """
SELECT {what}, {sums} FROM calls c LEFT JOIN sessions s ON c.session = s.id
WHERE epoch(c.time) >= ? GROUP BY 1 ORDER BY {order}
"""
BESIDE = f"""
SELECT s.kind, '', {SUMS} FROM calls c JOIN sessions s ON c.session = s.id
WHERE list_contains(?::VARCHAR[], s.parent) AND s.kind NOT IN (SELECT unnest(?::VARCHAR[])) GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What was used by all that has the ``name``: a kind of session, a model (empty where a call does not say which), a
    day (UTC, ``2026-10-31``) or a session's id, with its ``title``. ``sessions`` says in how many."""

    name: str
    title: str
    sessions: int
    usage: Usage


def spent(connection: DuckDBPyConnection, by: By, since: float) -> tuple[UsageRow, ...]:
    """All of it at or after `since` (seconds since 1970-01-01 UTC), the largest first; days, the latest first. The
    connection has the views ``calls`` and ``sessions``."""
    asked = SPENT.format(what=WHAT[by], sums=SUMS, order=ORDER.get(by, "sum(c.tokens) DESC, 1"))
    return tuple(map(_row, connection.execute(asked, [since]).fetchall()))


def spent_beside(home: Home, sessions: Collection[str]) -> tuple[UsageRow, ...]:
    """What was used right below these sessions and is not in their own account, by kind.

    Raises:
        StoreError: the store cannot be read now.
    """
    with explaining(home.places), Hand(home).reach() as known:
        kin = Kin(known.connection, known.tail.heads())
        heads = kin.heads(kin.children(set(sessions)) - known.tail.deleted)
        connection = known.connection
        with closing(database.connect()) if connection is None else nullcontext(connection) as asked:
            bring_facts(asked, known, list(heads.values()))
            asked.execute(VIEWS)
            rows = asked.execute(BESIDE, [list(sessions), list(COUNTED)]).fetchall()
            asked.execute("DROP TABLE facts")
    return tuple(map(_row, rows))


def since(now: float, days: int | None) -> float:
    """When the last `days` days began, of which `now` is in the last, in UTC; None are all."""
    return float("-inf") if days is None else (now // DAY - (days - 1)) * DAY


def _row(found: tuple[Any, ...]) -> UsageRow:
    name, title, sessions, *used = found
    return UsageRow(name or "", title or "", sessions, Usage(*used))
