"""``%hermes usage``: what models have used, in this conversation and beside it, or in all there is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.looking import BY, beside, spending
from hermes_kernel.looking.spending import COST, ESTIMATED, MEASURES
from magics.table import Table

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


def usage(desk: Desk, rest: str) -> Table:
    """Tokens of the last turn and of the conversation, those of subagents, summaries and failed calls included, and of
    what worked beside it; or of every session in the home.

    Raises:
        HermesError: what follows the command is nothing that usage can be told by.
    """
    what, _, days = rest.partition(" ")
    if not what:
        return _conversation(desk)
    if what not in (ALL, *BY):
        raise HermesError(f"usage takes nothing or {ALL}, {', '.join(BY)} [N days], not {brief(what, 40)!r}.")
    return _everything(desk, cast("By", "kind" if what == ALL else what), _days(days.strip()))


def _conversation(desk: Desk) -> Table:
    turn, whole = desk.agent.turn.usage, desk.agent.usage
    others = beside(desk.store, desk.agent.session_id)
    columns = ("", "last turn", "conversation", *(row.name for row in others))
    used = (turn, whole, *(row.usage for row in others))
    rows = [(name, *cells) for name, *cells in zip(_names(), *map(_counts, used), strict=True)]
    if any(each.cost for each in used):
        rows.append((COST, *(f"{each.cost:.4f}" for each in used)))
    notes = [BESIDE.format(names=_listed([row.name for row in others]))] if others else []
    notes += [ESTIMATED] if any(each.estimated for each in used) else []
    return Table(columns, tuple(rows), whole, " ".join(notes))


def _everything(desk: Desk, by: By, days: int | None) -> Table:
    found = spending(desk.store, by, days)
    columns, rows = found.table()
    nothing = NOTHING.format(when="yet" if days is None else "in that time")
    return Table(columns, rows, found, found.note if rows else nothing)


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
