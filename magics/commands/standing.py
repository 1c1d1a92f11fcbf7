"""``%hermes status`` and ``budget``: how the conversation stands, and what it has taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.core.compression.summary import is_summary, stands_for
from hermes_kernel.core.events import Leased, Outcome, WindowFound
from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import brief
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError
from hermes_kernel.looking.budgets import TurnCalls, calls_by_turn
from hermes_kernel.view.charts.chart import chart_html, figures_html
from hermes_kernel.view.look import FRAME
from hermes_kernel.view.turn.meters import budget_of, meter_html
from magics.commands.charted import Charted, charted
from magics.commands.recording import in_a_line
from magics.commands.table import Table, facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from magics.desk import Desk

TURNS = 12  # of a conversation that have a bar
CALLS = ("its own", "by subagents")
BY_YOU = "set it by %hermes config context_window=N"


def status(desk: Desk, rest: str) -> Table:
    """The session, the model, and how full its window is."""
    nothing("status", rest)
    desk.offer()
    agent, settings = desk.agent, desk.agent.settings
    return facts(
        ("session", agent.session_id),
        ("model", settings.model or "(chosen at the first turn)"),
        ("endpoint", settings.base_url or "(chosen at the first turn)"),
        ("turns", len(agent.turn.starts)),
        ("last outcome", _outcome(agent.turn.outcome)),
        ("running", agent.busy),
        ("window", _window(agent.turn, settings.context_window)),
        ("it holds", _held(agent.turn)),
        ("summary", _summary(agent.turn)),
        ("tools", len(agent.tools.names())),
        ("traffic", in_a_line(desk)),
        ("home", desk.home),
    )


def budget(desk: Desk, rest: str) -> Charted:
    """What the last turn used of its model calls, what is out with subagents while one runs, and the turns before."""
    if rest:
        desk.configure(max_iterations=rest)
    return budgeted(desk, turns_before(desk))


def turns_before(desk: Desk) -> tuple[TurnCalls, ...]:
    """The latest turns of this conversation, as they are kept; from any thread.

    Raises:
        StoreError: the store cannot be read.
    """
    turn = desk.agent.turn
    return calls_by_turn(desk.store, turn.session_id, turn.limits, TURNS)


def budgeted(desk: Desk, turns: Sequence[TurnCalls]) -> Charted:
    """The budget as it is at this moment, with a bar for each of these turns."""
    turn = desk.agent.turn
    tasks = {event.lease: event.task for event in turn.events if isinstance(event, Leased)}
    out = [(f"leased to {brief(tasks.get(lease, lease), 60)!r}", calls) for lease, calls in turn.budget.leases]
    rows = facts(
        ("calls a turn may make", desk.agent.settings.max_iterations),
        ("used by the last turn", f"{turn.budget.spent:,} of {turn.budget.limit:,}"),
        *out,
        ("left", turn.budget.remaining),
        value=turn.budget,
    )
    bars = [(f"turn {each.number}: {each.prompt}", (each.own, each.helpers)) for each in turns]
    chart = chart_html(bars, CALLS, "model calls of the latest turns") + figures_html(bars, CALLS)
    return charted(rows, f'<div style="{FRAME}">{meter_html(budget_of(turn.budget))}</div>{chart}')


def nothing(name: str, rest: str) -> None:
    """Raises: HermesError: something follows a command after which nothing does."""
    if rest:
        raise HermesError(f"{name} takes nothing after it, not {brief(rest, 40)!r}.")


def _window(turn: Turn, setting: int) -> str:
    tokens = turn.fill.window or setting
    if not tokens:
        return f"not known; {BY_YOU}"
    if turn.fill.guessed and not setting:
        return f"{tokens:,} tokens, a guess; {BY_YOU}"
    source = next((e.source for e in reversed(turn.events) if isinstance(e, WindowFound) and e.source), "")
    return f"{tokens:,} tokens" + (f" ({source})" if source and turn.fill.window else "")


def _held(turn: Turn) -> str:
    """How much the next call would send."""
    fill = turn.fill
    how = "as the server counts" if fill.gauge.told else "estimated"
    share = f", {100 * fill.tokens / fill.window:.0f} % of the window" if fill.window else ""
    return f"{fill.tokens:,} tokens{share} ({how})"


def _summary(turn: Turn) -> str:
    """Whether the older part is summarised, and whether a summary is being made."""
    made = next((message for message in turn.transcript if is_summary(message)), None)
    words = ["none"] if made is None else [f"of {counted(stands_for(made), 'message')}: `%hermes show summary`"]  # type: ignore[arg-type]
    return "; ".join([*words, *(["one is being made"] if turn.fill.compressing else [])])


def _outcome(outcome: Outcome | None) -> str:
    return outcome.replace("_", " ") if outcome else "none yet"
