"""`Summariser`: the compressor of a session. What it has begun goes on beside the turns until it is used or given up.

No summary, or a bad one, never loses history: the facts are digested instead, and it is said why.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from hermes_kernel.core.commands import Compress
from hermes_kernel.core.compression import Plan, digest, spliced
from hermes_kernel.core.events import Compressed, Event, Interrupted, Noticed, Spent
from hermes_kernel.core.messages import Transcript, Usage
from hermes_kernel.settings import Settings
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.compressing.measures import Measures, measured
from hermes_kernel.world.compressing.work import SECONDS, Work
from hermes_kernel.world.loop_thread import looping
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop, Stopped

TICK_SECONDS, TOLD_SECONDS = 0.5, 2.0
"""How often a waiting turn looks, and how often it says so."""

ENDING_SECONDS = 2.0


class Summariser:
    """Keeps `ports.Compressor`. ``settings`` and ``aside`` are asked for anew each time: they may change."""

    def __init__(self, settings: Callable[[], Settings], aside: Callable[[], Aside], clock: Clock) -> None:
        self._settings = settings
        self._aside = aside
        self._clock = clock
        self._work: Work | None = None
        self._pruned: tuple[Measures, Transcript] | None = None
        self._giving_way = False
        self._later: Compress | None = None
        self._owed = Usage()
        self._why = ""
        self._window = 0
        self._leaving: set[asyncio.Future[None]] = set()

    def begin(self, asked: Compress) -> None:
        if self._goes_on(asked.transcript):
            return
        measures = measured(asked, self._settings())
        plan = measures.plan()
        if pruned := measures.pruned(plan):
            self._pruned = measures, pruned
        elif plan and self._giving_way and self._aside().solitary and not self._in_order():
            self._later = asked
        elif plan:
            self._work = self._begun(measures, plan)

    @contextmanager
    def giving_way(self) -> Iterator[None]:
        """While a turn is played. A model that answers one call at a time is the turn's alone: a summary is begun when
        it is over, and anew where a prompt came before it was made, for nobody is to wait for it."""
        work = self._work
        if work is not None and not work.done and self._aside().solitary:
            self.give_up("a prompt came first")
            self._later = work.measures.asked
        self._giving_way = True
        try:
            yield
        finally:
            self._giving_way = False
            later, self._later = self._later, None
            if later is not None and looping():
                self.begin(later)

    def ready(self, transcript: Transcript) -> Compressed | Spent | None:
        if spent := self.owed():
            return spent
        begun, self._pruned = self._pruned, None
        if begun is not None and (pruned := _pruned(*begun, transcript)):
            return pruned
        if self._work is None or not self._work.done:
            return None
        return self._conclude(self._work, transcript) or self.owed()

    async def settle(self, stop: Stop) -> None:
        if self._work is not None and self._work.here:
            with suppress(Stopped):
                await stop.race(_ended({self._work.task}, SECONDS))

    async def compress(self, asked: Compress, stop: Stop) -> AsyncGenerator[Event, None]:
        measures = measured(asked, self._settings())
        if asked.attempt > 1:
            yield _shorter(measures, measures.reduced())
            return
        plan = measures.plan()
        if asked.focus is None and (pruned := measures.pruned(plan)):
            yield replace(_shorter(measures, pruned), how="pruned")
            return
        if not self._goes_on(asked.transcript) or asked.focus:
            self.give_up("another one was asked for")  # and one that was to be begun later
            self._work = self._begun(measures, plan) if plan else None
        work = self._work
        if work is not None:
            async for event in self._waited(work, stop):
                yield event
            if stop.by and not work.done:
                yield Interrupted(stop.by)
                return
        made = self._conclude(work, asked.transcript) if work is not None and work is self._work else None
        if spent := self.owed():
            yield spent
        yield made or _without(measures, plan, work.trouble if work is not None else "")

    # --- what was begun and is not wanted any more

    def owed(self) -> Spent | None:
        """What work has cost that came to nothing, once."""
        owed, self._owed = self._owed, Usage()
        return Spent(owed, f"a summary that was not used: {self._why}") if owed.calls else None

    def keep_to(self, transcript: Transcript) -> None:
        """The conversation is this one now, taken back perhaps: what does not fit it is given up."""
        if self._work is not None and not self._work.fits(transcript):
            self.give_up("the conversation was taken back")

    def give_up(self, why: str) -> None:
        """Let go of what was begun; its cost is owed."""
        work, self._work, self._pruned, self._later, self._window = self._work, None, None, None, 0
        if work is not None:
            work.give_up()
            self._owe(work.usage, why)
            if not work.task.done():
                self._leaving.add(work.task)
                work.task.add_done_callback(self._leaving.discard)

    def leave(self) -> Spent | None:
        """Another conversation begins; what this one still has to pay."""
        self.give_up("another conversation was begun")
        return self.owed()

    def close(self) -> None:
        """Give up, and see it end where that can be seen from here."""
        self.give_up("the agent was closed")
        for task in tuple(self._leaving):
            loop = task.get_loop()
            if not (loop.is_closed() or loop.is_running() or looping()):
                loop.run_until_complete(_ended({task}))

    async def aclose(self) -> None:
        """Give up, and wait for what ends on this loop."""
        self.give_up("the agent was closed")
        here = asyncio.get_running_loop()
        await _ended({task for task in self._leaving if task.get_loop() is here})

    # --- inside

    def _in_order(self) -> bool:
        """Everything has its place, now and when it is replayed: nothing is put off."""
        settings = self._settings()
        return settings.spec or bool(settings.record)

    def _goes_on(self, transcript: Transcript) -> bool:
        """A summary of this conversation is being made, or is ready."""
        work = self._work
        if work is None:
            return False
        if not work.fits(transcript) or not (work.done or work.here):
            self.give_up("the conversation went another way" if work.here else "the loop it was made on stands still")
        elif work.done and not work.text:
            self._conclude(work, transcript)
        return self._work is not None

    def _begun(self, measures: Measures, plan: Plan) -> Work:
        return Work(measures, plan, self._aside(), self._settings().secrets, self._window)

    def _conclude(self, work: Work, transcript: Transcript) -> Compressed | None:
        """What has become of `work`, which is done: its summary in its place, or its cost, which is owed."""
        self._work, self._window = None, work.window
        work.check()
        made = work.applied(transcript)
        if made is None:
            self._owe(work.usage, work.trouble or "it no longer fits the conversation")
        return made

    def _owe(self, usage: Usage, why: str) -> None:
        self._owed, self._why = self._owed + usage, why

    async def _waited(self, work: Work, stop: Stop) -> AsyncGenerator[Event, None]:
        """Wait for a summary and say so now and then, until it is there, the latch is pressed or time is up."""
        begun, told = self._clock.elapsed(), 0.0
        yield Noticed(f"summarising {work.tokens:,} tokens")
        while not (work.done or stop.by):
            try:
                await stop.race(_ended({work.task}, TICK_SECONDS))
            except Stopped:
                return
            seconds = self._clock.elapsed() - begun
            if seconds >= SECONDS:
                work.trouble = f"it took longer than {SECONDS:.0f} s"
                self.give_up(work.trouble)
                return
            if seconds - told >= TOLD_SECONDS and not work.done:
                told = seconds
                yield Noticed(f"summarising {work.tokens:,} tokens, {seconds:.0f} s")


def _pruned(begun: Measures, smaller: Transcript, transcript: Transcript) -> Compressed | None:
    """`transcript`, which goes on from what became `smaller`, with that in it."""
    before = begun.asked.transcript
    if transcript[: len(before)] != before:
        return None
    now = replace(begun, asked=replace(begun.asked, transcript=transcript))
    return replace(_shorter(now, (*smaller, *transcript[len(before) :])), how="pruned")


def _without(measures: Measures, plan: Plan | None, trouble: str) -> Compressed:
    """What can be had without a summary: a digest, or for a person, who can ask again, the conversation as it is."""
    asked, note = measures.asked, f"no summary: {trouble}" if trouble else ""
    if asked.focus is not None:
        return replace(_shorter(measures, asked.transcript), note=note)
    text = digest(asked.transcript, plan, measures.most) if plan else ""
    shorter = spliced(asked.transcript, asked.transcript, plan, text, measures.weigh) if plan else None
    return replace(_shorter(measures, shorter or measures.reduced()), note=note)


def _shorter(measures: Measures, transcript: Transcript) -> Compressed:
    """A digest, as it stands against what was."""
    return Compressed(transcript, measures.weigh(measures.asked.transcript), measures.weigh(transcript), "digest")


async def _ended(tasks: set[asyncio.Future[None]], seconds: float = ENDING_SECONDS) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
        await asyncio.sleep(0)  # for what they cancelled at their end
