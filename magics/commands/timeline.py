"""``%hermes timeline``: when a turn, or a whole conversation, did what."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.looking.timeline import LAST, of_all, of_turn, played
from hermes_kernel.view.charts.waterfall import Timeline, timeline_html, timeline_text
from hermes_kernel.world.store import NoSession
from magics.commands.table import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_kernel.view.charts.spans import Play
    from hermes_kernel.world.store import Store
    from magics.desk import Desk

NOTHING = "Nothing has been said in this conversation yet. `%hermes timeline ID` shows another one."
TAKES = "timeline takes a conversation's id, or none for this one, and after it turn N, or all; not {}."
ALL = 0
DIGITS = 9


class Wanted(NamedTuple):
    """Of which conversation, ``""`` this one, and which turn of it: its number, `LAST` or `ALL`."""

    name: str
    turn: int


def timeline(desk: Desk, rest: str) -> Page:
    """The last turn of this conversation, or another turn, or all of them.

    Raises:
        HermesError: there is no such turn, or it is asked for wrongly.
        NoSession: there is no such conversation.
        StoreError: the store cannot be read.
    """
    asked = wanted(rest)
    session = session_of(desk, asked.name)
    return page(told(desk.store, turns_of(desk.store, session, named=bool(asked.name)), session, asked.turn))


def wanted(rest: str) -> Wanted:
    """What is asked for.

    Raises:
        HermesError: it is nothing that can be.
    """
    words = rest.split()
    match words:
        case [*name, "all"]:
            turn = ALL
        case [*name, "turn", number] if number.isdecimal() and len(number) <= DIGITS and int(number):
            turn = int(number)
        case _ if "turn" in words:
            raise HermesError(TAKES.format(repr(brief(rest, 60))))
        case name:
            turn = LAST
    return Wanted(" ".join(name), turn)


def session_of(desk: Desk, name: str) -> str:
    """The session that is meant; ``""`` is this conversation.

    Raises:
        NoSession: there is none of this name.
    """
    return desk.store.find(name) if name else desk.agent.session_id


def turns_of(store: Store, session: str, *, named: bool = False) -> tuple[Play, ...]:
    """The turns of it. A conversation in which nothing was said has none, and says so.

    Raises:
        HermesError: nothing was said in it yet.
        StoreError: the store cannot be read.
    """
    try:
        found = played(store, session)
    except NoSession:
        if named:
            raise
        found = ()
    if not found:
        raise HermesError(NOTHING)
    return found


def told(store: Store, found: Sequence[Play], session: str, turn: int) -> Timeline:
    """What is wanted of these turns; raises as `timeline`."""
    return of_all(found, session) if turn == ALL else of_turn(store, found, turn)


def page(made: Timeline) -> Page:
    """As it is shown; its value is the timeline itself, with its spans."""
    return Page(timeline_text(made), timeline_html(made), made)
