"""When a conversation did what: its turns from the facts that are kept, with the times at which they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hermes_kernel.core.events import Kept, Leased
from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import dotted
from hermes_kernel.errors import HermesError
from hermes_kernel.looking.lineage import sessions_of
from hermes_kernel.view.charts.crowded import ROWS, of_one, timeline
from hermes_kernel.view.charts.spans import Play, Span
from hermes_kernel.view.charts.timing import plays
from hermes_kernel.view.charts.waterfall import Timeline, seconds
from hermes_kernel.view.kept.finds import short
from hermes_kernel.world.store import NoSession, Store
from hermes_kernel.world.store.records import timed

AGENTS = 16  # subagents of a turn whose own work is read; more would have no room
LAST = -1


def played(store: Store, name: str) -> tuple[Play, ...]:
    """The turns of the conversation with the session that `name` names, since before it was compressed.

    Raises:
        NoSession: there is none, or there are several.
        StoreError: the store cannot be read.
    """
    found: list[Play] = []
    for session in sessions_of(store, store.find(name)):
        before = max((play.number for play in found), default=0)
        found.extend(plays(timed(store.records(session)), before))
    return tuple(found)


def of_turn(store: Store, found: Sequence[Play], number: int = LAST) -> Timeline:
    """One turn: the last that stands, or the one with this number, with what its subagents did.

    Raises:
        HermesError: there is no such turn.
        StoreError: the store cannot be read.
    """
    standing = [play for play in found if play.number]
    if not found or (number != LAST and not 1 <= number <= len(standing)):
        raise HermesError(f"There is no turn {number}: this conversation has {counted(len(standing), 'turn')}.")
    play = (standing or found)[-1] if number == LAST else standing[number - 1]
    full = replace(play, spans=_with_agents(store, play.spans) if len(play.spans) <= ROWS else play.spans)
    return of_one(full)


def of_all(found: Sequence[Play], name: str) -> Timeline:
    """All turns, one after the other.

    Raises:
        HermesError: there is none.
    """
    if not found:
        raise HermesError("There is no turn in this conversation yet.")
    worked = seconds(sum(play.seconds for play in found))
    return timeline(found, f"session {short(name)}", f"{counted(len(found), 'turn')} · {worked}")


def _with_agents(store: Store, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Each subagent with its own work below it, one level deep."""
    rows: list[Span] = []
    left = AGENTS
    for span in spans:
        if not span.lease or not left:
            rows.append(span)
            continue
        left -= 1
        known = _known(store, span.lease)
        inside = [each.later(0, span.depth + 1) for play in plays(known) for each in play.spans]
        deeper = sum(isinstance(fact, Leased) for _, fact in known)
        own = f"{counted(deeper, 'subagent')} of its own" if deeper else ""
        rows += [replace(span, note=dotted(span.note, own)), *inside]
    return tuple(rows)


def _known(store: Store, session: str) -> tuple[tuple[float, Kept], ...]:
    try:
        return timed(store.records(session))
    except NoSession:
        return ()
