"""Tool calls put together from pieces, however a server cut, numbered or repeated them.

Trusts neither ``index`` nor ``finish_reason``: a piece belongs to the call whose ``id`` it names, else to the call at
its ``index``, else to the last one, unless it plainly begins another.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hermes_kernel.core.json_repair import CUT, dumped, is_object, mend
from hermes_kernel.core.json_state import Nesting, State, json_state
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.text import scrub

NAMELESS = "the call names no tool; send it again with the name of one of the tools"
KEPT = frozenset({"extra_content", "thought_signature", "signature", "provider_specific_fields"})
"""Fields of a call that some providers want back verbatim: Gemini's thought signature, directly or through a proxy."""


@dataclass(slots=True)
class Draft:
    """A call that is being written."""

    id: str = ""
    index: int | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    extra: dict[str, Any] = field(default_factory=dict)
    nesting: Nesting = field(default_factory=Nesting)
    unread: list[str] = field(default_factory=list)
    closed: bool | None = None

    @property
    def written(self) -> str:
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def whole(self) -> bool:
        """Whether the arguments so far are a whole object. They are read once, where a brace has closed the first."""
        if not (self.pieces and self.pieces[-1].endswith("}")):
            return False
        if self.closed is None:
            self.nesting.feed("".join(self.unread))
            self.unread.clear()
            if self.nesting.depth == 0:
                self.closed = is_object(self.written)
        return bool(self.closed)

    @property
    def is_placeholder(self) -> bool:
        """Some proxies say ``{}`` first and the arguments after it."""
        return self.whole and self.written.strip()[1:-1].strip() == ""

    def add(self, arguments: str) -> None:
        """Take more arguments in. What follows a whole object repeats it, unless the object was a placeholder."""
        if not arguments:
            return
        if self.pieces and self.whole:
            if not (self.is_placeholder and arguments.lstrip().startswith("{")):
                return
            self.pieces, self.characters = [], 0
            self.nesting, self.closed = Nesting(), None
        self.pieces.append(arguments)
        self.unread.append(arguments)
        self.characters += len(arguments)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one delta says of one call."""

    id: str
    index: int | None
    name: str
    arguments: str
    extra: dict[str, Any]

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Piece:
        """Read a delta; anything may be missing, null or of another type."""
        function = raw.get("function")
        function = function if isinstance(function, dict) else {}
        arguments, index = function.get("arguments"), raw.get("index")
        return cls(
            id=_text(raw.get("id")),
            index=index if isinstance(index, int) else None,
            name=_text(function.get("name")),
            arguments=arguments if isinstance(arguments, str) else "" if arguments is None else dumped(arguments),
            extra={key: value for part in (raw, function) for key, value in part.items() if key in KEPT and value},
        )


class Calls:
    """The calls of one reply as they come in. ``taken`` is another number whenever there is more of them."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.taken = 0
        self._stray: dict[str, Any] = {}

    def feed(self, piece: Piece) -> Draft | None:
        """Put `piece` where it belongs: the call it was added to, or None if it was no part of any."""
        draft = self._home(piece)
        if draft is None:
            self._stray |= piece.extra
            return None
        before = draft.characters
        draft.id = draft.id or piece.id
        draft.name = draft.name or piece.name
        draft.extra |= piece.extra
        draft.add(piece.arguments)
        self.taken += draft.characters - before
        return draft

    def finished(self, new_id: Callable[[], str], *, limited: bool) -> tuple[tuple[ToolCall, ...], bool]:
        """The calls in order, each with an id no other has, and whether one of them was cut off. ``limited`` when the
        reply ended at the output limit: then arguments that are not whole are taken for cut, even if not begun."""
        seen: set[str] = set()
        ended = [self._finish(draft, new_id, seen, limited=limited) for draft in self.drafts]
        return tuple(call for call, _ in ended), any(cut for _, cut in ended)

    def _finish(
        self, draft: Draft, new_id: Callable[[], str], seen: set[str], *, limited: bool
    ) -> tuple[ToolCall, bool]:
        mended = mend(draft.written)
        unbegun = not draft.written.strip() and draft is self.drafts[-1]
        broken = bool(mended.flaw) and json_state(draft.written) is not State.WHOLE
        cut = mended.cut or (limited and (unbegun or broken))
        arguments = draft.written if cut else mended.arguments
        flaw = CUT.format(draft.characters) if cut else mended.flaw or ("" if draft.name else NAMELESS)
        call_id = scrub(draft.id)
        while not call_id or call_id in seen:
            call_id = new_id()
        seen.add(call_id)
        extra = dumped(draft.extra) if draft.extra else ""
        return ToolCall(call_id, scrub(draft.name), scrub(arguments), flaw, extra), cut

    def _home(self, piece: Piece) -> Draft | None:
        draft = self._candidate(piece)
        if draft is not None and not _begins_another(piece, draft):
            return draft
        if not (piece.id or piece.name or piece.arguments.strip()):
            return None
        self.drafts.append(Draft(index=piece.index, extra=self._stray))
        self.taken += 1
        self._stray = {}
        return self.drafts[-1]

    def _candidate(self, piece: Piece) -> Draft | None:
        """The call that `piece` goes on with, if it goes on with one."""
        newest_first = self.drafts[::-1]
        if piece.id:
            known = next((draft for draft in newest_first if draft.id == piece.id), None)
            if known is not None:
                return known
        at_index = next((d for d in newest_first if piece.index is None or d.index in (piece.index, None)), None)
        if at_index is None or not piece.id:
            return at_index
        return None if at_index.id and (piece.name or at_index.whole or not at_index.pieces) else at_index


def _begins_another(piece: Piece, draft: Draft) -> bool:
    """Whether `piece` is of another call than `draft`, though its id or index says the same."""
    if piece.name and draft.name and piece.name != draft.name:
        return draft.whole or not draft.pieces
    if not draft.pieces or not draft.whole:
        return _elsewhere(piece, draft)
    unmarked = not piece.id and piece.index is None
    if not piece.arguments.strip():
        return bool(piece.name) and (unmarked or _elsewhere(piece, draft))
    if _repeats(piece.arguments, draft.written):
        return _elsewhere(piece, draft)
    begins = bool(piece.name) or (not piece.id and piece.arguments.lstrip().startswith("{"))
    return begins and (unmarked or not draft.is_placeholder)


def _elsewhere(piece: Piece, draft: Draft) -> bool:
    """One id for all calls: then a name at another index begins the next."""
    return bool(piece.name) and None not in (piece.index, draft.index) and piece.index != draft.index


def _repeats(arguments: str, held: str) -> bool:
    """Whether a piece says again what is held, as it stands or encoded once more."""
    said, before = mend(arguments), mend(held)
    return not (said.flaw or before.flaw) and json.loads(said.arguments) == json.loads(before.arguments)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
