"""A map as it runs: rows are handed out a few at a time, each with its calls set aside, and taken back one by one.

What is in flight is all that a crash can leave unknown. Knows nothing of who asks the rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress

from hermes_kernel.core.events import Asked, Failed, Kept, Opened, Undone
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Usage
from hermes_kernel.mapping.asking import Ask
from hermes_kernel.mapping.board import Board
from hermes_kernel.mapping.budget import MapBudget
from hermes_kernel.mapping.gate import Gate
from hermes_kernel.mapping.hands import Hands, Lost, Refused
from hermes_kernel.mapping.ledger import KIND, Ledger
from hermes_kernel.mapping.outcome import Row, RowOutcome, calls_of, row_of
from hermes_kernel.mapping.prompts import Prompts
from hermes_kernel.mapping.result import Progress
from hermes_kernel.mapping.writer import Writer
from hermes_kernel.world.stop import Stop, Stopped

HOPELESS = (Fault.AUTH, Fault.BILLING, Fault.MODEL_NOT_FOUND, Fault.SSL)
STRIKES = 5  # rows, at least, that fail one after another for what the next one will meet too
EMPTY = "Its prompt is empty."
STOPPED, SPENT = "the map was stopped", "the budget is spent"


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows of a map are asked: ``workers`` at once, each in at most ``seconds`` (0: any number), of a model
    that reads ``window`` tokens (0: not known)."""

    prompts: Prompts
    system: str
    model: str
    workers: int
    seconds: float = 0.0
    route: int = 0
    window: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides when a row is handed out, and with how much."""

    budget: MapBudget
    gate: Gate
    stop: Stop


class Running:
    """One run. ``note`` says why it came to an end before its rows did; ``news`` is set whenever it is further."""

    def __init__(self, plan: Plan, ledger: Ledger, writer: Writer, board: Board, rules: Rules) -> None:
        self.note = ""
        self.news = asyncio.Event()
        self._plan = plan
        self._ledger = ledger
        self._writer = writer
        self._board = board
        self._rules = rules
        self._todo = compress(enumerate(plan.prompts), board.open)
        self._left = sum(board.open)
        self._flying = 0
        self._made = 0
        self._strikes = 0
        self._turnstile = asyncio.Lock()
        self._landed = asyncio.Event()

    async def run(self, hands: Hands) -> None:
        """Ask every row that is open, or as many as can be.

        Raises:
            StoreError: the store cannot be written; rows in flight have been stopped.
        """
        work = [asyncio.ensure_future(self._work(hands)) for _ in range(min(self._plan.workers, self._left))]
        try:
            if work:
                await asyncio.wait(work, return_when=asyncio.FIRST_EXCEPTION)
                if any(each.done() and each.exception() for each in work):
                    self._rules.stop.press("kernel")
                await asyncio.wait(work)
        finally:
            self.news.set()
        if failed := [error for each in work if (error := each.exception())]:
            raise failed[0]

    def progress(self, seconds: float) -> Progress:
        """How far it is, so many seconds after it began."""
        board = self._board
        done = len(board.rows) - self._left - self._flying
        return Progress(done, len(board.rows), board.failed, board.kept, self._flying, self._made, seconds)

    async def _work(self, hands: Hands) -> None:
        while (taken := await self._next()) is not None:
            number, row = taken
            self._flying += 1
            try:
                self._board.settle(number, await self._asked(number, row, hands))
            finally:
                self._flying -= 1
                self._landed.set()
                self.news.set()

    # --- handing out

    async def _next(self) -> tuple[int, Ask] | None:
        """The next row, when it may be asked; None when no more is to be."""
        async with self._turnstile:
            while (taken := self._take()) is not None:
                number, prompt = taken
                if not prompt.strip():
                    self._board.settle(number, self._row(number, RowOutcome.NOT_ASKED, EMPTY))
                    continue
                return await self._made_ready(number, prompt)
        return None

    def _take(self) -> tuple[int, str] | None:
        if self._rules.stop.by:
            self.note = self.note or STOPPED
        if self.note:
            return None
        taken = next(self._todo, None)
        self._left -= taken is not None
        return taken

    async def _made_ready(self, number: int, prompt: str) -> tuple[int, Ask] | None:
        """A row with its calls set aside, once the gate lets it through."""
        budget = self._rules.budget
        while budget.empty:
            if not budget.lent:
                self.note = SPENT
                return None
            self._landed.clear()
            await self._landed.wait()
        try:
            await self._rules.gate.through(self._rules.stop)
        except Stopped:
            self.note = STOPPED
            return None
        session_id = self._ledger.row(number)
        lease = budget.lease(session_id, min(self._plan.workers - self._flying, self._left + 1))
        plan = self._plan
        opened = Opened(session_id, plan.system, plan.model, KIND, self._ledger.session_id)
        asked = Asked(prompt, route=plan.route, budget=lease, window=plan.window)
        return number, Ask(session_id, opened, asked, plan.seconds)

    # --- taking back

    async def _asked(self, number: int, row: Ask, hands: Hands) -> Row:
        """Ask a row, its beginning on disk before anything else; what became of it."""
        used = row.asked.budget
        try:
            await self._writer.append(row.session_id, *(row.again if number in self._board.asked else row.facts))
            facts = await hands.ask(row, self._rules.stop)
            used = calls_of((*row.facts, *facts))
        except Lost as lost:
            self._strike(str(lost))
            return self._row(number, RowOutcome.UNKNOWN, str(lost))
        except Refused as refused:
            await self._writer.append(row.session_id, Undone())
            used, self.note = 0, str(refused)
            return self._row(number, RowOutcome.NOT_ASKED, str(refused))
        finally:
            self._rules.budget.settle(row.session_id, used)
        ended = row_of(self._plan.prompts.keys[number], row.session_id, (*row.facts, *facts))
        self._made += ended.usage.calls
        self._heed(ended, facts)
        return replace(ended, usage=self._board.asked.get(number, Usage()) + ended.usage)

    def _heed(self, row: Row, facts: Iterable[Kept]) -> None:
        """What the end of one row means for the next ones."""
        failed = next((fact for fact in reversed((*facts,)) if isinstance(fact, Failed)), None)
        if row.outcome is not RowOutcome.FAILED or failed is None:
            self._strikes = 0
            return
        self._rules.gate.failed(failed)
        if failed.fault in HOPELESS:
            self._strike(row.reason)

    def _strike(self, reason: str) -> None:
        self._strikes += 1
        if self._strikes >= max(STRIKES, self._plan.workers + 1):
            self.note = self.note or f"{self._strikes} rows one after another failed: {reason}"

    def _row(self, number: int, outcome: RowOutcome, reason: str) -> Row:
        usage = self._board.asked.get(number, Usage())
        return Row(
            self._plan.prompts.keys[number], outcome, reason=reason, usage=usage, session_id=self._ledger.row(number)
        )
