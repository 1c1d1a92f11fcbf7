"""A story as facts: turns that begin with a prompt and end, replies whose every call has a result. Knows no store.

What the original lacks is filled in honestly: a result that is missing is one whose outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from hermes_kernel.core import prompts
from hermes_kernel.core.events import Asked, Compressed, Final, Kept, Observed, Outcome, Replied, Started
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.tokens import estimate
from hermes_kernel.world.importing.content import ANOTHER
from hermes_kernel.world.importing.told import Standing, Story, Told

UNASKED = "[The prompt of this turn is not in what was imported.]"
ROOM = 1_000_000  # model calls: the limits a turn had in the original are not known, and it is over


@dataclass(frozen=True, slots=True)
class Item:
    """A fact of the import. ``key`` names it within its session, ``told`` says that a message of the original is in it,
    ``gone`` that it begins a turn which was taken back."""

    key: str
    t: float | None
    fact: Kept
    told: bool = False
    gone: bool = False


def items(story: Story, anew: Container[str] = ()) -> tuple[Item, ...]:
    """The facts of the messages of `story`, in order. Where the last turn is not over, it is left open. A reply or a
    result whose key is in `anew` begins a turn of its own."""
    teller = _Teller(story.each, anew)
    for told in story.messages:
        teller.tell(told)
    teller.leave()
    return tuple(teller.items)


def unasked(key: str) -> str:
    """The key of the prompt that stands for a missing one, before the message `key`."""
    return f"prompt:{key}"


class _Teller:
    """Tells one message after the other, and knows what is owed at this point."""

    def __init__(self, model: str, anew: Container[str]) -> None:
        self.items: list[Item] = []
        self._anew = anew
        self._model = model
        self._last: Told | None = None
        self._inside = False  # a turn has begun
        self._gone = False  # that turn was taken back
        self._open: list[ToolCall] = []  # calls without a result
        self._said: list[str] = []  # the replies since the prompt or the last result
        self._finish = Finish.STOP
        self._archived = 0  # estimated tokens of messages that a compaction summed up

    def tell(self, told: Told) -> None:
        self._compact(told)
        if told.role in ("user", "system"):
            self._end()
            self._ask(told.key, told, Asked(told.text, told.images, budget=ROOM), told=True)
        elif not self._inside or told.key in self._anew or (told.standing is Standing.TAKEN_BACK) != self._gone:
            self._end()
            self._ask(unasked(told.key), told, Asked(UNASKED, budget=ROOM), told=False)
        match told.role:
            case "assistant":
                self._reply(told)
            case "tool":
                self._observe(told)
        self._last = told

    def leave(self) -> None:
        """After the last message: the turn has ended if it ends in words. A call without a result may be at work."""
        if self._inside and not self._open and "".join(self._said).strip():
            self._end()
        for call in self._open:
            self._add(f"begun:{call.id}", Started(call.id))

    def _compact(self, told: Told) -> None:
        """What a compaction left is live again behind what it summed up: here the conversation begins anew."""
        if told.standing is Standing.ARCHIVED:
            self._archived += max(estimate(told.text), 1)
        elif told.standing is Standing.LIVE and self._archived:
            self._end()
            self.items.append(Item(f"compacted:{told.key}", told.t, Compressed((), self._archived, 0, "import")))
            self._archived = 0

    def _ask(self, key: str, by: Told, asked: Asked, *, told: bool) -> None:
        self._inside, self._gone = True, by.standing is Standing.TAKEN_BACK
        self.items.append(Item(key, by.t, asked, told, self._gone))

    def _reply(self, told: Told) -> None:
        self._close()
        text = f"\n\n{told.text}" if told.text and "".join(self._said) else told.text
        reply = Replied(text, told.calls, told.finish, thoughts=told.thoughts, extra=told.extra, model=self._model)
        self.items.append(Item(told.key, told.t, reply, told=True))
        self._said.append(text)
        self._finish = told.finish
        self._open = list(told.calls)

    def _observe(self, told: Told) -> None:
        """A result goes to the call it names, or to the first that waits where it names none."""
        waits = (n for n, call in enumerate(self._open) if is_named(call, told.call_id))
        at = next(waits, None)
        call_id = told.call_id if at is None else self._open.pop(at).id
        self.items.append(Item(told.key, told.t, Observed(call_id, told.text, told.ok, images=told.images), told=True))
        self._said = []

    def _end(self) -> None:
        """The turn is over, well when its last words are an answer."""
        if not self._inside:
            return
        self._close()
        text = "".join(self._said).strip() and "".join(self._said)
        outcome = Outcome.REFUSED if self._finish is Finish.CONTENT_FILTER else Outcome.COMPLETED
        self._add("end", Final(outcome if text else Outcome.INTERRUPTED, text))
        self._inside, self._said, self._finish = False, [], Finish.STOP

    def _close(self) -> None:
        for call in self._open:
            self._add(f"lost:{call.id}", Observed(call.id, prompts.LOST, ok=False))
        if self._open:
            self._open, self._said = [], []

    def _add(self, what: str, fact: Kept) -> None:
        """A fact of ours, right behind the last message."""
        key = f"{what}:{self._last.key}" if self._last else what
        self.items.append(Item(key, self._last.t if self._last else None, fact))


def is_named(call: ToolCall, name: str) -> bool:
    """Whether a result for `name` is one of `call`: of several calls with one id, each has been given its own."""
    return name in ("", call.id) or call.id.startswith(f"{name}{ANOTHER}")
