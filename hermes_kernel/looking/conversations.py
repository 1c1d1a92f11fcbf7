"""Conversations as a person lists and reads them: one that was compressed is one, whatever sessions it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes_kernel.core.events import Continued, Kept, Leased, Opened, Returned
from hermes_kernel.core.search.passages import SPOKEN
from hermes_kernel.view.reading import Conversation, Helper, Relative
from hermes_kernel.world.store import NoSession, SessionRow, Store
from hermes_kernel.world.store.records import facts
from hermes_kernel.world.store.threads import Head

CHAT = "chat"  # what a person speaks in; other kinds of session work for one of these
KINDS = """
SELECT session, coalesce(any_value(body->>'kind'), 'chat') FROM facts
WHERE kind = 'Opened' AND session IN (SELECT unnest(?::VARCHAR[])) GROUP BY session
"""


def conversations(store: Store, most: int) -> list[SessionRow]:
    """The conversations last active, at most `most`, the latest first: of one that was compressed the session in which
    it goes on; no subagents, no rows of maps and no runs of jobs.

    Raises:
        StoreError: the store cannot be read.
    """
    asked = most
    while True:
        rows = store.sessions(asked)
        there = {row.id for row in rows}
        found = [row for row in rows if row.kind == CHAT and row.continued not in there]
        if len(found) >= most or len(rows) < asked:
            return found[:most]
        asked *= 4


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
        goes_on=bool(parent.session) and further(_known(store, parent.session)) == session,
        further=further(known),
        children=tuple(Relative(child.session, child.title) for child in others),
        helpers=helpers,
        rows=sum(kind == "map" for kind in kinds.values()),
    )


def further(known: Sequence[Kept]) -> str:
    """The session in which the one with these facts goes on since it was compressed; ``""`` where it does not."""
    last = known[-1] if known else None
    return last.session_id if isinstance(last, Continued) else ""


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


def _known(store: Store, session: str) -> list[Kept]:
    """The facts of a session, none where it was deleted."""
    try:
        return facts(store.records(session))
    except NoSession:
        return []


def _kinds(store: Store, heads: Sequence[Head]) -> dict[str, str]:
    """What kind of session each is."""
    if not heads:
        return {}
    with store.connect() as connection:
        return dict(connection.execute(KINDS, [[head.session for head in heads]]).fetchall())
