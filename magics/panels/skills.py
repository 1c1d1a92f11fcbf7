"""The panel of skills: found as you type, read, marked, changed, and what waits for a word decided."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_kernel.errors import HermesError
from hermes_kernel.learning.skills import asked
from hermes_kernel.learning.skills.asked import Answer
from hermes_kernel.learning.skills.choices import awaited
from hermes_kernel.view import clean
from hermes_kernel.view.kept.pages import PAGE
from hermes_kernel.view.markup import quiet
from magics.commands.skills import skills as document
from magics.panels.board import Board
from magics.panels.deeds import CHOOSE, Work, as_shown, refill, still
from magics.panels.skilled import (
    CHANGES,
    TEXT,
    Detail,
    Key,
    Seen,
    consented,
    detail,
    in_a_line,
    options,
    seen,
    summary,
)

if TYPE_CHECKING:
    from magics.commands.table import Shown
    from magics.desk import Desk
    from magics.panels.faces import Face

DOCUMENTS = frozenset({"install", "accept", "reject"})
KINDS = (
    ("all but the archived", ""), *((kind, kind) for kind in ("active", "stale", "archived", "held", "broken")),
    ("disabled", "disabled"), ("pinned", "pinned"), ("all", "all"),
)  # fmt: skip
VIEWS = (("its text", TEXT), ("its changes", CHANGES))
TURNS = (("pin", "unpin"), ("disable", "enable"), ("archive", "restore"))
"""Verbs that take each other back share a button: whoever presses keeps their place."""
LABELS = {
    "pin": "Pin", "unpin": "Unpin", "disable": "Disable", "enable": "Enable", "archive": "Archive",
    "restore": "Restore", "undo": "Undo the last change",
}  # fmt: skip
SAID = {"pin": "pinned", "unpin": "not pinned any more", "disable": "disabled", "enable": "enabled", "trust": "trusted"}


def face(desk: Desk, rest: str, _shown: Shown) -> Face | None:
    """What opens the panel."""
    if rest.partition(" ")[0] in DOCUMENTS:
        return None
    return lambda: SkillsPanel(desk, rest).open()


class SkillsPanel:
    """A search, a list, the chosen one in full, and what can be done with it."""

    def __init__(self, desk: Desk, words: str) -> None:
        self._lore = desk.agent.learning
        self._board = board = Board(desk, "skills", lambda: document(desk, words))
        self._work = Work(board, self._look, in_a_line)
        self._kind, self._sought = (words, "") if words in asked.KINDS else ("", words)
        self._view = TEXT
        self._seen, self._detail = Seen(), Detail()
        self._chosen: Key | None = None
        self._search = board.field("Search", self._typed, hint="words in names, descriptions and tags")
        self._kinds = board.choice("Show", KINDS, self._turn)
        board.quietly(self._begin)
        self._said = board.page()
        self._list = board.listing("Skills", self._choose)
        self._views = board.choice("Read", VIEWS, self._look_at)
        self._page = board.page(name=PAGE)
        self._reading, self._deeds = board.row(self._views), board.row()
        self._turns = tuple(board.button(LABELS[first], partial(self._toggle, n)) for n, (first, _) in enumerate(TURNS))
        self._trust = board.button("Trust it…", self._consent, sure="Trust what is suspicious: press again")
        self._undo = board.button(LABELS["undo"], partial(self._do, "undo"))
        self._accept = board.button("Accept", self._agree)
        self._anyway = board.button("Accept…", self._agree, sure="Accept what is suspicious: press again")
        self._reject = board.button("Reject", self._refuse)

    def open(self) -> None:
        """Show it, and what is there."""
        board = self._board
        board.show(
            board.row(self._search, self._kinds), self._said, self._list, self._reading, self._page, self._deeds
        )  # fmt: skip
        board.do(self._look)

    def _begin(self) -> None:
        self._search.value, self._kinds.value = clean(self._sought), self._kind

    # --- looking

    async def _look(self) -> None:
        """Read again; what was chosen stays chosen, if it is there."""
        self._seen = await self._work.away(seen, self._lore, self._kind, self._sought)
        self._chosen = still(self._chosen, self._seen.keys)
        self._said.value = quiet(summary(self._seen))
        refill(self._board, self._list, options(self._seen), self._chosen)
        await self._read()

    async def _read(self) -> None:
        """The chosen one, as it is now."""
        self._detail = Detail()
        try:
            self._detail = await self._work.away(detail, self._lore, self._chosen, self._view)
        finally:
            self._page.value = self._detail.html
            self._reading.layout.display = "none" if (self._chosen or ("waits",))[0] == "waits" else None
            self._deeds.children = tuple(self._offered())

    def _offered(self) -> Iterator[Any]:
        verbs = self._detail.verbs
        for button, pair in zip(self._turns, TURNS, strict=True):
            for verb in pair:
                if verb in verbs:
                    button.description = button.tooltip = LABELS[verb]
                    yield button
        for verb, button in (("undo", self._undo), ("trust", self._trust)):
            if verb in verbs:
                yield button
        if "accept" in verbs:
            yield self._anyway if self._detail.known.findings else self._accept
            yield self._reject

    async def _typed(self, words: str) -> None:
        self._sought = words
        await self._turned()

    async def _turn(self, kind: str) -> None:
        self._kind = kind
        await self._turned()

    async def _look_at(self, view: str) -> None:
        self._view = view
        await self._read()

    async def _choose(self, key: Key | None) -> None:
        self._board.say("")
        self._chosen = key
        await self._read()

    async def _turned(self) -> None:
        self._board.say("")
        await self._look()

    # --- changing

    async def _toggle(self, which: int) -> None:
        verb = next((each for each in TURNS[which] if each in self._detail.verbs), "")
        if verb:
            await self._do(verb)

    async def _do(self, verb: str) -> None:
        name = self._named("skill")
        made = await self._work.done(asked.do, self._lore, name, verb, ())
        await self._work.after(f"{name} is {SAID[verb]}." if verb in SAID else _first(made))

    async def _consent(self) -> None:
        """Trust what was shown, and nothing that has taken its place since."""
        name = self._named("skill")
        made = await self._work.done(self._trusted, name, self._detail.known)
        agreed = "; ".join(line.removeprefix("consented to: ") for line in made.note.splitlines())
        await self._work.after(f"{name} is trusted. You consented to: {agreed}")

    def _trusted(self, name: str, known: Any) -> Answer:
        as_shown(consented(asked.shown(self._lore, name).value), known)
        return asked.do(self._lore, name, "trust", ())

    async def _agree(self) -> None:
        identity = self._named("waits")
        await self._work.after(_first(await self._work.done(self._agreed, identity, self._detail.known)))

    def _agreed(self, identity: str, known: Any) -> Answer:
        as_shown(awaited(self._lore, identity), known)
        return asked.accept(self._lore, identity)

    async def _refuse(self) -> None:
        await self._work.after(_first(await self._work.done(asked.reject, self._lore, self._named("waits"))))

    def _named(self, kind: str) -> str:
        if self._chosen is None or self._chosen[0] != kind:
            raise HermesError(CHOOSE)
        return self._chosen[1]


def _first(made: Answer) -> str:
    return made.note.partition("\n")[0]
