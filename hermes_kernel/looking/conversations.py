"""Conversations as a person lists and reads them: one that was compressed is one, whatever sessions it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hermes_kernel.core.events import Continued, Kept, Leased, Opened, Returned
from hermes_kernel.core.search.passages import SPOKEN
from hermes_kernel.view.kept.reading import Conversation, Helper, Relative
from hermes_kernel.world.store import NoSession, SessionRow, Store
from hermes_kernel.world.store.records import facts
from hermes_kernel.world.store.threads import Head

CHAT = "chat"  # what a person speaks in; other kinds of session work for one of these
MAP = "map"
NAMED = re.compile(r"[\w-]+", re.ASCII)
ROWS = "SELECT id, title FROM sessions WHERE parent = '{}'"
FURTHEST = 1_280  # sessions that are looked at to fill a list in which rows of maps are one line
KINDS = """
SELECT session, coalesce(any_value(body->>'kind'), 'chat') FROM facts
WHERE kind = 'Opened' AND session IN (SELECT unnest(?::VARCHAR[])) GROUP BY session
"""


def conversations(store: Store, most: int, notebook: str = "") -> list[SessionRow]:
    """The conversations last active, at most `most`, the latest first: of one that was compressed the session in which
    it goes on; no subagents, no rows of maps and no runs of jobs. Those of one `notebook`, where it is named.

    Raises:
        StoreError: the store cannot be read.
    """
    asked = most
    while True:
        rows = store.sessions(asked)
        there = {row.id for row in rows}
        found = [
            row for row in rows if row.kind == CHAT and row.continued not in there and notebook in ("", row.notebook)
        ]
        if len(found) >= most or len(rows) < asked:
            return found[:most]
        asked *= 4


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of a list of all sessions: one of them, or the `rows` of one map, of which it is the last active."""

    last: SessionRow
    rows: tuple[SessionRow, ...]

    @property
    def title(self) -> str:
        """Its title; of several rows, how many there are as well."""
        return self.last.title if len(self.rows) == 1 else f"{len(self.rows):,} rows, the last: {self.last.title}"

    @property
    def calls(self) -> int:
        """The model calls of all."""
        return sum(row.calls for row in self.rows)


def listed(store: Store, most: int) -> list[Listed]:
    """The sessions last active, of whatever kind, in at most `most` lines, the latest first: the rows of a map are one,
    as far as they are among the last `FURTHEST`.

    Raises:
        StoreError: the store cannot be read.
    """
    asked = most
    while True:
        rows = store.sessions(asked)
        found = folded(rows)
        if len(found) >= most or len(rows) < asked or asked >= FURTHEST:
            return found[:most]
        asked = max(min(asked * 4, FURTHEST), most)


def folded(rows: Iterable[SessionRow]) -> list[Listed]:
    """A line for each session, and one for the rows of each map, where the last of them stands."""
    lines: dict[tuple[str, str], list[SessionRow]] = {}
    for row in rows:
        of_map = row.kind == MAP and row.parent
        lines.setdefault((MAP, row.parent) if of_map else ("", row.id), []).append(row)
    return [Listed(each[0], tuple(each)) for each in lines.values()]


def how_to_list(found: Iterable[Listed], asking: str) -> str:
    """How the rows that are one line are listed, nothing where there are none; ``asking`` is the command with braces in
    place of its SQL."""
    parent = next((each.last.parent for each in found if len(each.rows) > 1), "")
    if not NAMED.fullmatch(parent):  # it is to be pasted into a shell
        return ""
    return f"Rows of one map are one line; `{asking.format(ROWS.format(parent))}` lists them."


def none(store: Store, everything: str) -> str:
    """What is said where there is no conversation to list; the command `everything` lists sessions of all kinds.

    Raises:
        StoreError: the store cannot be read.
    """
    if store.sessions(1):
        return f"There are no conversations; `{everything}` lists the sessions of maps, subagents and jobs."
    return "There are no conversations yet."


def conversation(store: Store, name: str) -> Conversation:
    """The session that `name` names, to be read.

    Raises:
        NoSession: there is none, or there are several; the text names those that come close.
        StoreError: the store cannot be read.
    """
    session = store.find(name)
    known, passages = facts(store.records(session)), store.passages(session)
    own, parent, children = store.relatives(session)
    kinds = _kinds(store, children)
    helpers = helped(known)
    others = [c for c in children if kinds.get(c.session, CHAT) in SPOKEN and c.session != further(known)]
    return Conversation(
        session=session,
        title=own.title,
        notebook=own.notebook,
        model=own.model,
        started=passages[0].t if passages else own.last,
        passages=passages,
        kind=next((fact.kind for fact in known if isinstance(fact, Opened)), CHAT),
        parent=Relative(parent.session, parent.title) if parent.session else None,
        goes_on=bool(parent.session) and further(facts_of(store, parent.session)) == session,
        further=further(known),
        children=tuple(Relative(child.session, child.title) for child in others),
        helpers=helpers,
        rows=sum(kind == MAP for kind in kinds.values()),
    )


def further(known: Sequence[Kept]) -> str:
    """The session in which the one with these facts goes on since it was compressed; ``""`` where it does not."""
    last = known[-1] if known else None
    return last.session_id if isinstance(last, Continued) else ""


def facts_of(store: Store, session: str) -> list[Kept]:
    """The facts of a session, none where it was deleted.

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        return facts(store.records(session))
    except NoSession:
        return []


def helped(known: Iterable[Kept]) -> tuple[Helper, ...]:
    """The subagents that worked for a session, by its own facts."""
    found: dict[str, Helper] = {}
    for fact in known:
        match fact:
            case Leased(lease, calls, task):
                found[lease] = Helper(lease, task, calls)
            case Returned(lease, used, outcome) if lease in found:
                before = found[lease]
                found[lease] = Helper(lease, before.task, before.granted, outcome, used)
    return tuple(found.values())


def _kinds(store: Store, heads: Sequence[Head]) -> dict[str, str]:
    """What kind of session each is."""
    if not heads:
        return {}
    with store.connect() as connection:
        return dict(connection.execute(KINDS, [[head.session for head in heads]]).fetchall())
