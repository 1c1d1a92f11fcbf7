"""One summary in the making: a task that asks a model piece by piece, on the loop it was begun on, beside the turn."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import replace

from hermes_kernel.core.compression import (
    SYSTEM,
    Plan,
    accepted,
    bounded,
    digest,
    pieces,
    prune,
    request,
    size,
    spliced,
)
from hermes_kernel.core.events import Compressed, Failed, Outcome
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Transcript, Usage, User
from hermes_kernel.core.redact import redact
from hermes_kernel.core.text import brief
from hermes_kernel.core.turn import Turn
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.compressing.measures import Measures
from hermes_kernel.world.spec import guard
from hermes_kernel.world.stop import Stop

SECONDS = 300.0
"""Time a summary may take, all its calls together."""

CALLS = 5
"""Calls for one summary at most; what does not fit into them is digested."""

LEAST_ROOM = 200
PARTLY = "the rest of it is a digest: it was too long for a few calls"
TOO_LONG = frozenset({Fault.CONTEXT_OVERFLOW, Fault.PAYLOAD_TOO_LARGE})

_NUMBER = re.compile(r"^\[(\d{1,9})\] ", re.MULTILINE)


class Work:
    """A summary of what `plan` takes out. Once ``done`` there is a ``text``, or the ``trouble`` that kept it away."""

    def __init__(self, measures: Measures, plan: Plan, aside: Aside, secrets: frozenset[str], window: int) -> None:
        """``window`` is what the summariser is known to read, 0: not known."""
        self.begun = measures.asked.transcript
        self.plan = plan
        self.tokens = measures.weigh(plan.taken(self.begun))
        self.window = window
        self.text = ""
        self.trouble = ""
        self.note = ""
        self.stop = Stop()
        self.measures = measures
        self._aside = aside
        self._secrets = secrets
        self._spent = Usage()
        self._asking = Usage()
        self._words = measures.words(plan.taken(self.begun))
        self.task = asyncio.ensure_future(self._within_time())

    @property
    def done(self) -> bool:
        """Nothing more will come of it."""
        return self.task.done()

    def check(self) -> None:
        """Raise a mistake of our own in what is done; a loop that ended under it is none."""
        if self.task.cancelled():
            self.trouble = self.trouble or "the loop it was made on has ended"
        else:
            self.task.result()

    @property
    def here(self) -> bool:
        """It goes on while this loop runs."""
        return self.task.get_loop() is asyncio.get_running_loop()

    @property
    def usage(self) -> Usage:
        """What it has cost so far; a call that is out counts as if it came back empty."""
        return self._spent + self._asking

    def fits(self, transcript: Transcript) -> bool:
        """Whether `transcript` still begins with what is summarised."""
        return transcript[: self.plan.tail] == self.begun[: self.plan.tail]

    def applied(self, transcript: Transcript) -> Compressed | None:
        """`transcript` with the summary in its place, if that makes it smaller."""
        weigh = self.measures.weigh
        shorter = spliced(transcript, self.begun, self.plan, self.text, weigh) if self.text else None
        if shorter is None:
            return None
        return Compressed(shorter, weigh(transcript), weigh(shorter), "summary", self.usage, self.note)

    def give_up(self) -> None:
        """It is not wanted any more; it ends by itself, soon, once its loop runs."""
        self.stop.press("kernel")

    # --- in the task

    async def _within_time(self) -> None:
        async with self.stop.after(self._listened, SECONDS):
            await self._make()

    async def _listened(self, seconds: float) -> None:
        """So many seconds in which the loop ran: between the calls of a script it stands still."""
        for _ in range(int(seconds)):
            await guard(self._aside.clock)(1.0)

    async def _make(self) -> None:
        """Have the record written, piece by piece; what is left when the calls are used up is digested."""
        left, record = await asyncio.to_thread(self._pieces)
        calls = 0
        while left and calls < CALLS and not self.trouble:
            piece = left.popleft()
            if self._too_large(piece) and (halves := _halves(piece)):
                left.extendleft(reversed(halves))
                continue
            turn = await self._ask(request(piece, record, self.measures.asked.focus or "", self._words))
            calls += 1
            answer = turn.text if turn.outcome is Outcome.COMPLETED else ""
            if text := accepted(redact(bounded(answer), self._secrets), self.measures.most):
                record = text
            elif _overflows(turn) and (halves := _halves(piece)):
                left.extendleft(reversed(halves))
            else:
                self.trouble = self._why(turn)
        if left and not self.trouble:
            record, self.note = self._digested(_number(left[0], self.plan.head), record), PARTLY
        self.text = "" if self.trouble else record

    def _pieces(self) -> tuple[deque[str], str]:
        """What the summariser is to read, and the record it begins with: of too many pieces the first are digested.
        For a thread: in a window of a million tokens it takes a second."""
        measures, plan = self.measures, self.plan
        room = measures.room(self.window or measures.window)
        if room < LEAST_ROOM:
            self.trouble = f"a window of {self.window or measures.window:,} tokens has no room for making one"
            return deque(), ""
        told = pieces(prune(self.begun, len(self.begun) - plan.tail), plan, room)
        safe = deque(redact(piece, self._secrets) for piece in told)
        if len(safe) <= CALLS:
            return safe, plan.previous
        last = deque(list(safe)[-CALLS:])
        self.note = PARTLY
        earlier = replace(plan, tail=max(_number(last[0], plan.tail), plan.head))
        return last, digest(self.begun, earlier, measures.most)

    def _digested(self, head: int, record: str) -> str:
        rest = replace(self.plan, head=max(head, self.plan.head), previous=record)
        return digest(self.begun, rest, self.measures.most)

    async def _ask(self, prompt: str) -> Turn:
        self._asking = Usage(1, size((User(SYSTEM + prompt),)), estimated=True)
        turn = await self._aside.ask(SYSTEM, prompt, self.stop, self.window)
        self._spent, self._asking = self._spent + turn.usage, Usage()
        if overflows := _overflows(turn):
            told = [failed.window for failed in overflows if failed.window]
            self.window = min(told or [(self.window or self.measures.window) // 2])
        return turn

    def _too_large(self, piece: str) -> bool:
        """It is known to be more than the summariser reads: an earlier piece was."""
        return self.window > 0 and size((User(piece),)) > max(self.measures.room(self.window), LEAST_ROOM)

    def _why(self, turn: Turn) -> str:
        """One line on why there is no summary."""
        if self.stop.by == "time":
            return f"it took longer than {SECONDS:.0f} s"
        if self.stop.by:
            return "it was given up"
        if turn.outcome is Outcome.COMPLETED:
            return "the answer was no summary"
        return brief(turn.reason, 200) or f"the model gave none ({turn.outcome})"


def _overflows(turn: Turn) -> list[Failed]:
    """The calls that were too long, also where another model was asked then."""
    return [event for event in turn.events if isinstance(event, Failed) and event.fault in TOO_LONG]


def _halves(piece: str) -> tuple[str, ...]:
    """A piece that is too long for the summariser as two; none when it is not worth it."""
    lines = piece.splitlines()
    middle = len(lines) // 2
    if middle == 0 or size((User(piece),)) < LEAST_ROOM:
        return ()
    return "\n".join(lines[:middle]), "\n".join(["(continued)", *lines[middle:]])


def _number(piece: str, otherwise: int) -> int:
    """The place, from 0, of the first message that is told whole in a piece."""
    found = _NUMBER.search(piece)
    return int(found[1]) - 1 if found else otherwise
