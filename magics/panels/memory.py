"""The panel of what is remembered: how full it is, each entry in full, what was changed, and what waits for a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.memory import Change, MemoryFull, MemoryRefused, MemoryThreat
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.memory import asked as asking
from hermes_kernel.learning.proposals import NoProposal
from hermes_kernel.view.kept.pages import PAGE
from magics.commands.memory import memory as document
from magics.commands.memory import told
from magics.panels.board import Board
from magics.panels.confirming import Consent
from magics.panels.deeds import CHOOSE, Work, refill, still
from magics.panels.pulse import Anew
from magics.panels.remembered import CHANGES, ENTRIES, Key, Seen, gauges, options, page, seen
from magics.verdict import readable

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

GONE = "It was changed or decided meanwhile by somebody else."
SHORTEN = "Shorten an entry, or remove one."
AGAIN = "Press again if you want it all the same."
VIEWS = (("what is remembered", ENTRIES), ("changes", CHANGES))
WHERE = (("MEMORY.md: work, data", "memory"), ("USER.md: about you", "user"))


def face(desk: Desk, rest: str, shown: Shown) -> Face | None:
    """What opens the panel."""
    view = {"": ENTRIES, "history": CHANGES}.get(rest)
    return None if view is None else lambda: MemoryPanel(desk, view, Anew(shown, lambda: document(desk, rest))).open()


class MemoryPanel:
    """A list, the chosen one in full, and what can be done with it."""

    def __init__(self, desk: Desk, view: str, shown: Callable[[], Shown]) -> None:
        self._kept = desk.agent.learning.memory
        self._board = board = Board(desk, "memory", shown)
        self._work = Work(board, self._look, _readable)
        self._view, self._seen = view, Seen()
        self._chosen: Key | None = None
        self._editing: asking.Line | None = None
        self._consent = Consent()
        self._gauges, self._page = board.page(), board.page(name=PAGE)
        self._list = board.listing("What is remembered", self._choose, rows=7)
        self._views = board.choice("Show", VIEWS, self._turn)
        board.quietly(lambda: setattr(self._views, "value", view))
        self._add = board.button("Add…", self._begin_adding, hint="Have something remembered")
        self._edit = board.button("Edit…", self._begin_editing)
        self._remove = board.button("Remove", self._forget, sure="Remove it: press again")
        self._undo = board.button("Take it back", self._take_back, hint="Undo this change, and nothing that came since")
        self._accept = board.button("Accept", self._agree)
        self._reject = board.button("Reject", self._refuse)
        self._all = (
            board.button("Accept all", self._agree_to_all, sure="Accept all: press again"),
            board.button("Reject all", self._refuse_all, sure="Reject all: press again"),
        )
        self._deeds = board.row()
        self._where = board.choice("In", WHERE)
        self._text = board.area("The entry")
        self._save = board.button("Save", self._saved)
        self._cancel = board.button("Cancel", self._close_editor)
        self._ends, self._target = board.row(self._save, self._cancel), board.row(self._where)
        self._editor = board.column()

    def open(self) -> None:
        """Show it, and what is there."""
        tools = self._board.row(self._views, self._add)
        self._board.show(self._gauges, tools, self._list, self._page, self._deeds, self._editor)
        self._board.do(self._look)

    # --- looking

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        self._seen = await self._work.away(seen, self._kept, self._view)
        self._gauges.value = gauges(self._seen)
        self._chosen = still(self._chosen, self._seen.keys)
        refill(self._board, self._list, options(self._seen), self._chosen)
        self._page.value = await self._board.away(page, self._seen, self._chosen, self._kept.findings)
        self._deeds.children = self._offered()

    def _offered(self) -> tuple[Any, ...]:
        every = self._all if len(self._seen.waiting) > 1 and self._view == ENTRIES else ()
        match self._chosen:
            case ("entry", _, _):
                return (self._edit, self._remove, *every)
            case ("waits", _):
                return (self._accept, self._reject, *every)
            case ("change", _):
                return (self._undo,)
        return ()

    async def _choose(self, key: Key | None) -> None:
        self._forgive()
        self._board.say("")
        self._chosen = key
        await self._look()
        if key is not None and self._chosen != key:
            self._board.say(GONE, "slow")

    async def _turn(self, view: str) -> None:
        self._view = view
        await self._choose(None)

    # --- changing

    async def _begin_adding(self) -> None:
        self._editing, self._text.value = None, ""
        self._editor.children = (self._target, self._text, self._ends)

    async def _begin_editing(self) -> None:
        line = self._line()
        self._editing, self._text.value = line, line.entry
        self._editor.children = (self._text, self._ends)

    async def _close_editor(self) -> None:
        self._forgive()
        self._editing, self._text.value, self._editor.children = None, "", ()

    async def _saved(self) -> None:
        text, line, target = self._text.value, self._editing, self._where.value
        wanted = ("save", text, line, target)
        anyway = self._consent.given(wanted)
        if line is None:
            work = partial(asking.remember, self._kept, target, text, anyway=anyway)
        else:
            work = partial(asking.rewrite, self._kept, line, text, anyway=anyway)
        try:
            made = await self._work.done(work)
        except MemoryThreat as threat:
            self._consent.ask(wanted)
            self._save.description = "Save all the same"
            self._board.say(f"{threat} {AGAIN}", "slow")
            return
        await self._close_editor()
        await self._after(made, text)

    async def _forget(self) -> None:
        await self._after(await self._work.done(asking.forget, self._kept, self._line()))

    async def _take_back(self) -> None:
        number = int(self._key("change")[1])
        await self._after(await self._work.done(self._kept.undo, "person", number))

    async def _after(self, made: Change, text: str = "") -> None:
        """Say what came of it; an entry that was written is the chosen one."""
        if text.strip() in made.after and self._view == ENTRIES:
            self._chosen = ("entry", made.target, text.strip())
        await self._look()
        self._board.say(told(made), "person" if made.changed else "")

    # --- what waits

    async def _agree(self) -> None:
        await self._decide(self._key("waits")[1])

    async def _agree_to_all(self) -> None:
        await self._decide("all")

    async def _decide(self, which: str) -> None:
        meant = await self._work.done(asking.chosen, self._kept, which)
        wanted = tuple(each.id for each in meant)
        found = tuple(dict.fromkeys(said for each in meant for said in each.findings))
        if found and not self._consent.given(wanted):
            self._consent.ask(wanted)
            self._accept.description = "Accept all the same"
            self._board.say(f"Suspicious: {'; '.join(found)}. {AGAIN}", "slow")
            return
        self._forgive()
        made = await self._work.done(lambda: [self._kept.accept(each) for each in meant])
        await self._look()
        self._board.say(" ".join(map(told, made)) or asking.NOTHING_WAITS, "person")

    async def _refuse(self) -> None:
        await self._drop(self._key("waits")[1])

    async def _refuse_all(self) -> None:
        await self._drop("all")

    async def _drop(self, which: str) -> None:
        self._forgive()
        gone = await self._work.done(asking.reject, self._kept, which)
        await self._look()
        self._board.say(asking.rejected(gone))

    # --- with what

    def _forgive(self) -> None:
        """Whoever was told that something is suspicious did something else."""
        self._consent.given(None)
        self._save.description, self._accept.description = "Save", "Accept"

    def _line(self) -> asking.Line:
        _, target, entry = self._key("entry")
        return asking.Line(0, target, entry)

    def _key(self, kind: str) -> Key:
        if self._chosen is None or self._chosen[0] != kind:
            raise HermesError(CHOOSE)
        return self._chosen


@contextmanager
def _readable() -> Iterator[None]:
    """What cannot be remembered, in one line; what is suspicious is for whoever may consent."""
    try:
        with readable():
            yield
    except MemoryThreat:
        raise
    except MemoryFull as error:
        raise HermesError(f"{error.said} {SHORTEN}") from None
    except (MemoryRefused, NoProposal) as error:
        raise HermesError(str(error).partition("\n")[0]) from None
