"""``%hermes usage``: what models have used, in this conversation and beside it, or in all there is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.looking import BY, beside, spending
from hermes_kernel.looking.spending import COST, ESTIMATED, MEASURES, PARTS, Spending, parts
from hermes_kernel.view.charts.chart import chart_html
from magics.commands.charted import Charted, charted
from magics.commands.table import Table

if TYPE_CHECKING:
    from hermes_kernel.core.messages import Usage
    from hermes_kernel.world.store import By
    from magics.desk import Desk

ALL = "all"  # by kind
NOTHING = "No model has been asked anything {when}."
BESIDE = (
    "{names} worked beside this conversation; its column takes that in at its next turn, or when it is left. "
    "`%hermes usage all` counts everything once."
)
MOST = 99_999  # days
TOKENS = "tokens"


def usage(desk: Desk, rest: str) -> Charted:
    """Tokens of the last turn and of the conversation, those of subagents, summaries and failed calls included, and of
    what worked beside it; or of every session in the home.

    Raises:
        HermesError: what follows the command is nothing that usage can be told by.
    """
    what, days = asked(rest)
    return told(desk, what, days)


def asked(rest: str) -> tuple[By | None, int | None]:
    """By what, and of how many days; None is this conversation, and all days.

    Raises:
        HermesError: as `usage`.
    """
    what, _, days = rest.partition(" ")
    if what not in ("", ALL, *BY):
        raise HermesError(f"usage takes nothing or {ALL}, {', '.join(BY)} [N days], not {brief(what, 40)!r}.")
    return cast("By", "kind" if what == ALL else what) if what else None, _days(days.strip())


def told(desk: Desk, what: By | None, days: int | None) -> Charted:
    """The table of it, with its chart; from any thread.

    Raises:
        StoreError: the store cannot be read.
    """
    return _conversation(desk) if what is None else _everything(desk, what, days)


def _conversation(desk: Desk) -> Charted:
    turn, whole = desk.agent.turn.usage, desk.agent.usage
    others = beside(desk.store, desk.agent.session_id)
    columns = ("", "last turn", "conversation", *(row.name for row in others))
    used = (turn, whole, *(row.usage for row in others))
    rows = [(name, *cells) for name, *cells in zip(_names(), *map(_counts, used), strict=True)]
    if any(each.cost for each in used):
        rows.append((COST, *(f"{each.cost:.4f}" for each in used)))
    notes = [BESIDE.format(names=_listed([row.name for row in others]))] if others else []
    notes += [ESTIMATED] if any(each.estimated for each in used) else []
    bars = [(name, parts(each)) for name, each in zip(columns[1:], used, strict=True)]
    return charted(Table(columns, tuple(rows), whole, " ".join(notes)), chart_html(bars, PARTS, TOKENS))


def _everything(desk: Desk, by: By, days: int | None) -> Charted:
    found = spending(desk.store, by, days)
    columns, rows = found.table()
    nothing = NOTHING.format(when="yet" if days is None else "in that time")
    return charted(Table(columns, rows, found, found.note if rows else nothing), _charts(found, days))


def _charts(found: Spending, days: int | None) -> str:
    since = f", last {counted(days, 'day')}" if days else ""
    tokens = chart_html(found.bars, PARTS, f"{TOKENS} by {found.by}{since}")
    return tokens + chart_html(found.costs, (COST,), f"{COST} by {found.by}{since}")


def _days(words: str) -> int | None:
    """Raises: HermesError: it is no number of days."""
    if not words:
        return None
    number = re.fullmatch(r"(\d{1,5})\s*(?:d|days?)?", words)
    if number is None or not int(number[1]):
        raise HermesError(f"usage takes a number of days from 1 to {MOST:,}, as in `7 days`, not {brief(words, 40)!r}.")
    return int(number[1])


def _names() -> tuple[str, ...]:
    return ("model calls", *MEASURES[2:])


def _counts(used: Usage) -> tuple[int, ...]:
    return used.calls, used.input_tokens, used.cached_tokens, used.output_tokens, used.reasoning_tokens


def _listed(names: list[str]) -> str:
    *some, last = names
    return (f"{', '.join(some)} and {last}" if some else last).capitalize()
