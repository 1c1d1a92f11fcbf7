"""The panel of conversations: found as you type, read, gone on with, branched, named, their lineage."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.figures import counted
from hermes_kernel.errors import HermesError
from hermes_kernel.looking import conversation, entitle, lineage, listed
from hermes_kernel.looking import conversations as chats
from hermes_kernel.looking.conversations import folded
from hermes_kernel.view.descent import summary, tree_html, tree_text
from hermes_kernel.view.finds import finds_html, finds_text, short, tally, thread_html
from hermes_kernel.view.reading import told_html
from magics import conversations as kept
from magics.panels import found as lines
from magics.panels.board import Board
from magics.panels.pages import PAGE, quiet
from magics.panels.pulse import refill
from magics.table import Page

if TYPE_CHECKING:
    from hermes_kernel.core.search.found import Thread
    from hermes_kernel.world.store import SessionRow, Store
    from magics.desk import Desk
    from magics.panels.faces import Face
    from magics.panels.found import Option
    from magics.table import Shown

MORE = 50  # lines that are added at once
THREADS = 20  # conversations that a search looks for at first
LONG = 200_000  # characters of a conversation that is opened as a whole
CHATS, OURS, ALL = "conversations", "this notebook's", "all kinds"
EMPTY = "There are no conversations yet. Ask something in a cell: it is kept, and found here."
NONE = {OURS: "This notebook has none yet."}
PARTLY = "Only its last messages are here: it is long. `{} show {}` has more of it."


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel; a tree is a document."""
    if rest.partition(" ")[0] == kept.TREE:
        return None
    most, everything = kept.wanted(rest)
    return lambda: SessionsPanel(desk, most, ALL if everything else CHATS, shown).open()


@dataclass(frozen=True, slots=True)
class Seen:
    """What is listed: as a document, line by line, and the finds in those in which something was looked for."""

    shown: Shown
    options: list[Option]
    threads: dict[str, Thread] = field(default_factory=dict)


class SessionsPanel:
    """What is looked for, a list of what there is, the chosen one, and what can be done with it."""

    def __init__(self, desk: Desk, most: int, kind: str, shown: Shown) -> None:
        self._desk = desk
        self._shown = shown
        self._kind = kind
        self._most = most
        self._text = ""
        self._family = ""  # whose relatives are listed
        self._chosen = ""
        self._threads: dict[str, Thread] = {}
        self._board = board = Board(desk, "sessions", lambda: self._shown)
        self._search = board.field("Search", self._typed, hint='words, "a phrase", beginning*, -without')
        self._kinds = board.choice("Show", [(each, each) for each in self._offers()], self._turn)
        board.quietly(lambda: setattr(self._kinds, "value", kind))
        self._list = board.listing("Conversations", self._choose)
        self._page = board.page(name=PAGE)
        self._more = board.button("More", self._further, hint=f"{MORE} more")
        self._tree = board.button("Tree", self._relatives, hint="Its branches, subagents, and what it came from")
        self._deeds = board.row()
        self._ways = (
            board.button("Open", self._open, hint="Read it here"),
            board.button("Resume", self._resume, hint="Go on with it in this notebook"),
            board.button("Branch…", self._begin_branch, hint="Go on with a copy of it"),
            board.button("Title…", self._begin_title, hint="Name it"),
            self._tree,
        )
        self._editor = board.row()
        self._at = board.field("Up to turn", self._kept_for_later, hint="all of it")
        self._at.layout.width = "13em"
        self._name = board.field("Title", self._kept_for_later)
        self._branch = board.button("Branch it", self._branched)
        self._save = board.button("Save", self._titled)
        self._cancel = board.button("Cancel", self._close_editor)

    def open(self) -> None:
        """Show it, with what the command has read."""
        self._put(_listed(self._shown, self._kind, self._desk.agent.session_id))
        tools = self._board.row(self._search, self._kinds)
        self._board.show(tools, self._list, self._page, self._deeds, self._editor)
        self._board.do(self._read)

    def _offers(self) -> tuple[str, ...]:
        return (CHATS, *([OURS] if _notebook() else []), ALL)

    # --- what is listed

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        self._put(await self._board.away(self._seen, self._desk.agent.session_id))
        await self._read()

    def _seen(self, present: str) -> Seen:
        """What is to be listed. On a thread."""
        store = self._desk.store
        if self._family:
            tree = lineage(store, self._family, present)
            return Seen(Page(tree_text(tree, kept.HERE), tree_html(tree, kept.HERE), tree), lines.relatives(tree))
        if self._text:
            found = self._desk.agent.search(self._query(), self._most)
            threads = {thread.hits[0].passage.session: thread for thread in found.threads}
            shown = Page(finds_text(found, kept.HERE), finds_html(found, kept.HERE), found)
            return Seen(shown, lines.threads(found, present), threads)
        if self._kind == ALL:
            return _listed(kept.all_table(store, listed(store, self._most)), ALL, present)
        rows = chats(store, self._most, _notebook() if self._kind == OURS else "")
        return _listed(kept.table(store, rows), CHATS, present)

    def _query(self) -> str:
        name = _notebook().replace('"', "")
        return f'{self._text} notebook:"{name}"' if self._kind == OURS and name else self._text

    def _put(self, seen: Seen) -> None:
        self._shown, self._threads = seen.shown, seen.threads
        there = [session for _, session in seen.options if session]
        if self._chosen not in there:
            self._chosen = next(iter(there), "")
        refill(self._board, self._list, seen.options, self._chosen or None)
        self._tree.description = "List" if self._family else "Tree"
        more = [self._more] if len(seen.options) >= self._most and not self._family else []
        self._deeds.children = (*(self._ways if there else ()), *more)

    async def _read(self) -> None:
        """The finds in the chosen one; without a search, how it began and how it ended."""
        thread = self._threads.get(self._chosen)
        if thread:
            self._page.value = thread_html(thread)
        elif self._chosen:
            told = await self._board.away(conversation, self._desk.store, self._chosen)
            self._page.value = told_html(told.in_brief())
        else:
            self._page.value = quiet(NONE.get(self._kind, EMPTY) if not self._text else "")

    async def _typed(self, text: str) -> None:
        if text.strip() != self._text:
            self._text = text.strip()
            await self._otherwise()

    async def _turn(self, kind: str) -> None:
        self._kind = kind
        await self._otherwise()

    async def _otherwise(self) -> None:
        """Another list, from its beginning."""
        self._family, self._most = "", THREADS if self._text else MORE
        self._board.say("")
        await self._close_editor()
        seen = await self._board.away(self._seen, self._desk.agent.session_id)
        self._chosen = ""
        self._put(seen)
        await self._read()
        self._told()

    async def _further(self) -> None:
        self._most += MORE
        await self._look()
        self._told()

    async def _relatives(self) -> None:
        self._family = "" if self._family else self._session()
        await self._look()
        self._told()

    def _told(self) -> None:
        """How much there is, of what was looked for."""
        match self._shown.value:
            case value if self._family:
                self._board.say(summary(value, kept.HERE).partition(". ")[0] + ".")
            case value if self._text:
                self._board.say(tally(value))
            case _:
                self._board.say("")

    async def _choose(self, session: str | None) -> None:
        if not session or session == self._chosen:
            return
        self._chosen = session
        self._board.say("")
        await self._close_editor()
        await self._read()

    # --- what is done with the chosen one

    def _session(self) -> str:
        if not self._chosen:
            raise HermesError("Choose a conversation in the list first.")
        return self._chosen

    async def _open(self) -> None:
        session, thread = self._session(), self._threads.get(self._chosen)
        place = thread.hits[0].passage.n if thread else 0
        self._page.value, whole = await self._board.away(_opened, self._desk.store, session, place)
        self._board.say("" if whole else PARTLY.format(kept.HERE, short(session)).replace("`", ""))

    async def _resume(self) -> None:
        self._between_turns("resume it")
        turn = kept.resume(self._desk, self._session()).value
        await self._look()
        where = f"This notebook goes on with {short(turn.session_id)}, {counted(len(turn.starts), 'turn')}."
        self._board.say(f"{where} {kept.BACK}", "person")

    async def _begin_branch(self) -> None:
        session = self._session()
        self._editor.children = (self._at, self._branch, self._cancel)
        told = await self._board.away(kept.show, self._desk, f"{session} turns")
        self._page.value = told._repr_html_()  # type: ignore[attr-defined]

    async def _branched(self) -> None:
        self._between_turns("branch")
        session, at, agent = self._session(), self._at.value.strip(), self._desk.agent
        kept.count("branch", at)
        before = agent.session_id
        kept.resume(self._desk, session)
        try:
            kept.branch(self._desk, at)
        except HermesError:
            self._back_to(before)
            raise
        await self._close_editor()
        await self._look()
        whole = f"its first {counted(int(at), 'turn')}" if at else "all of it"
        self._board.say(f"This notebook goes on with a copy of {short(session)}, {whole}. {kept.BACK}", "person")

    def _back_to(self, session: str) -> None:
        try:
            self._desk.agent.resume(session)
        except HermesError:  # nothing was said in it
            self._desk.agent.new()

    async def _begin_title(self) -> None:
        self._session()
        self._editor.children = (self._name, self._save, self._cancel)

    async def _titled(self) -> None:
        session, name, agent = self._session(), self._name.value, self._desk.agent
        if session == agent.session_id:
            kept.title(self._desk, name)
        else:
            await self._board.away(partial(entitle, self._desk.store, session, name, agent.settings.secrets))
        await self._close_editor()
        await self._look()
        self._board.say("It is called so now.", "person")

    async def _close_editor(self) -> None:
        if self._editor.children:
            self._editor.children = ()
            self._board.quietly(self._emptied)
            await self._read()

    def _emptied(self) -> None:
        self._at.value = self._name.value = ""

    async def _kept_for_later(self, _: str) -> None:
        """What stands there matters once a button is pressed."""

    def _between_turns(self, what: str) -> None:
        if self._desk.running:
            raise HermesError(f"A turn is running in this notebook: stop it or wait for it, then {what}.")


def _listed(shown: Shown, kind: str, present: str) -> Seen:
    """A table of sessions, as a list."""
    rows: list[SessionRow] = shown.value
    return Seen(shown, lines.sessions(folded(rows), present) if kind == ALL else lines.conversations(rows, present))


def _opened(store: Store, session: str, place: int) -> tuple[str, bool]:
    """The conversation to be read, around a place in it if there is one, and whether that is what was asked for."""
    told = conversation(store, session)
    whole = bool(place) or sum(len(passage.text) for passage in told.passages) <= LONG
    near = told if whole and not place else told.near(place or told.passages[-1].n)
    return told_html(near), whole


def _notebook() -> str:
    """What the document is called in which this kernel works, if anybody says."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).name
