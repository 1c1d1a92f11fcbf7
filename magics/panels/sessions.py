"""The panel of conversations: found as you type, read, gone on with, branched, named, their lineage."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.looking import conversation, entitle
from hermes_kernel.view.kept.descent import summary
from hermes_kernel.view.kept.finds import short, tally, thread_html
from hermes_kernel.view.kept.pages import PAGE
from hermes_kernel.view.kept.reading import told_html, turns
from hermes_kernel.view.markup import quiet
from magics.commands import conversations as kept
from magics.commands.table import Table
from magics.panels.board import Board
from magics.panels.deeds import still
from magics.panels.wished import ALL, CHATS, OURS, Seen, Wish, notebook, opened, read, seen

if TYPE_CHECKING:
    from hermes_kernel.core.search.found import Thread
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

MORE = 50  # lines that are added at once
THREADS = 20  # conversations that a search looks for at first
PROMPT = 60  # characters of a prompt that is branched at
EMPTY = "There are no conversations yet. Ask something in a cell: it is kept, and found here."
NONE = {OURS: "This notebook has none yet."}
PARTLY = "Only its last messages are here: it is long. `{} show {}` has more of it."


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel; a tree is a document."""
    if rest.partition(" ")[0] == kept.TREE:
        return None
    most, everything = kept.wanted(rest)
    return lambda: SessionsPanel(desk, most, ALL if everything else CHATS, shown).open()


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
        self._at = board.field("Up to turn", hint="all of it")
        self._at.layout.width = "13em"
        self._name = board.field("Title")
        self._branch = board.button("Branch it", self._branched)
        self._save = board.button("Save", self._titled)
        self._cancel = board.button("Cancel", self._close_editor)

    def open(self) -> None:
        """Show it, with what the command has read."""
        self._put(read(self._shown, self._kind, self._desk.agent.session_id))
        tools = self._board.row(self._search, self._kinds)
        self._board.show(tools, self._list, self._page, self._deeds, self._editor)
        self._board.do(self._read)

    def _offers(self) -> tuple[str, ...]:
        return (CHATS, *([OURS] if notebook() else []), ALL)

    # --- what is listed

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        self._put(await self._wished())
        await self._read()

    async def _wished(self) -> Seen:
        wish = Wish(self._kind, self._most, self._text, self._family)
        return await self._board.away(seen, self._desk.agent, self._desk.store, wish)

    def _put(self, made: Seen) -> None:
        self._shown, self._threads = made.shown, made.threads
        self._chosen = still(self._chosen, (session for _, session in made.options if session)) or ""
        if list(self._list.options) != made.options or self._list.value != (self._chosen or None):
            self._board.fill(self._list, made.options, self._chosen or None)  # as high as before: one types meanwhile
        self._tree.description = "List" if self._family else "Tree"
        more = [self._more] if len(made.options) >= self._most and not self._family else []
        self._deeds.children = (*(self._ways if self._chosen else ()), *more)

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
        there = await self._wished()
        self._chosen = ""
        self._put(there)
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
        self._page.value, whole = await self._board.away(opened, self._desk.store, session, place)
        self._board.say("" if whole else PARTLY.format(kept.HERE, short(session)).replace("`", ""))

    async def _resume(self) -> None:
        self._between_turns("resume it")
        turn = kept.resume(self._desk, self._session()).value
        await self._look()
        where = f"This notebook goes on with {short(turn.session_id)}, {counted(len(turn.starts), 'turn')}."
        self._board.say(f"{where} {kept.BACK}", "person")

    async def _begin_branch(self) -> None:
        told = await self._board.away(conversation, self._desk.store, self._session())
        rows = tuple((each.number, brief(each.prompt, PROMPT)) for each in turns(told.passages))
        self._page.value = Table(("turn", "prompt"), rows)._repr_html_()
        self._editor.children = (self._at, self._branch, self._cancel)

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
        told = await self._board.away(conversation, self._desk.store, self._session())
        self._board.quietly(lambda: setattr(self._name, "value", told.title))
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

    def _between_turns(self, what: str) -> None:
        if self._desk.running:
            raise HermesError(f"A turn is running in this notebook: stop it or wait for it, then {what}.")
