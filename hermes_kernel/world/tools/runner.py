"""Loop 1: all calls of one reply at once, each told as it ends. Knows nothing of what the tools do.

A call is a task; tasks are made in call order, tell their events through one queue, and go on only when the event was
taken, so that `Started` is on disk before a tool begins. A stop ends the batch from outside and waits for nobody.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.events import Event, Interrupted, Noticed, Observed, Returned, Started
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.spec import apart, meets
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools.aloud import Voices
from hermes_kernel.world.tools.calls import Answered, Ready
from hermes_kernel.world.tools.order import AsItComes, InOrder
from hermes_kernel.world.tools.results import Result, failure, rendered
from hermes_kernel.world.tools.speaking import SPEAKER, Speaker
from hermes_kernel.world.tools.threads import in_thread

if TYPE_CHECKING:
    from hermes_kernel.world.tools.registry import Tools

STOP_GRACE = 0.08  # seconds for calls to end by themselves after a stop; 0.2 is promised
CLOSE_GRACE, LAST_GRACE = 0.16, 0.04  # the same where a tool has work of its own to close, and after that
DEADLINE_GRACE = 0.5  # seconds for a call that is cancelled at its deadline to clean up after itself
LATE = (Observed, Returned)  # what is still told when a batch is stopped: it has happened
INLINE_CHARS = 200_000  # a longer text, or anything that is not text, is rendered off the loop

Prepare = Callable[[ToolCall], Ready | Answered]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the batch leaves to others. ``admit`` asks for approval: a refusal is an `Answered`. ``finish`` makes the
    `Observed` that is told. ``workers`` plain functions run at once; ``seconds`` is for a tool without a deadline.
    ``tools`` are those the batch is run with; ``ordered``: what is told and shown is so in the same order each time,
    and as ``told`` has it."""

    prepare: Prepare
    admit: Callable[[Ready], Awaitable[Ready | Answered]]
    finish: Callable[[Ready | Answered, Result, float], Observed]
    workers: int
    seconds: float
    tools: Tools
    ordered: bool = False
    told: Callable[[str], str] = str


@dataclass(slots=True)
class Batch:
    """The calls of one reply while they run. ``alive`` holds what has begun and has not really ended, ``closing`` the
    calls of tools that end by themselves when stopped."""

    rules: Rules
    clock: Clock
    events: asyncio.Queue[tuple[Event | None, asyncio.Event, float]] = field(default_factory=asyncio.Queue)
    order: AsItComes = field(init=False)
    voices: Voices = field(init=False)
    lane: asyncio.Lock = field(default_factory=asyncio.Lock)
    places: asyncio.Semaphore = field(init=False)
    alive: dict[int, tuple[str, asyncio.Future[Result]]] = field(default_factory=dict)
    closing: set[asyncio.Task[Any]] = field(default_factory=set)
    stopping: bool = False

    async def run(self, calls: Sequence[ToolCall], stop: Stop) -> AsyncGenerator[Event, None]:
        """See `ports.Toolbox.run`."""
        ready = [self.rules.prepare(call) for call in calls]
        self.places, self.order = asyncio.Semaphore(self.rules.workers), self._order(ready, stop)
        self.voices = Voices(len(ready), self.rules.told)
        shell = self.rules.tools.shell
        with self.voices.in_order(getattr(shell, "display_pub", None)) if self.rules.ordered else nullcontext():
            async with aclosing(self._run(ready, stop)) as told:
                async for event in told:
                    yield event

    async def _run(self, ready: Sequence[Ready | Answered], stop: Stop) -> AsyncGenerator[Event, None]:
        tasks = [asyncio.create_task(self._call(at, each, stop)) for at, each in enumerate(ready)]
        watch = asyncio.create_task(self._watch(tasks, stop))
        try:
            while True:
                event, taken, moment = await self.events.get()
                meets(self.clock, moment)
                if event is None or (stop.by and not isinstance(event, LATE)):
                    taken.set()
                    break
                yield event
                taken.set()
            if stop.by:
                async for event in self._stopped(tasks, stop):
                    yield event
        finally:
            self.stopping = True  # nobody takes what is told from here on
            for task in (*tasks, watch):
                task.cancel()
        for task in tasks:
            if task.done() and not task.cancelled():
                task.result()  # tools cannot raise through a call, so what is raised here is a bug of ours

    async def _watch(self, tasks: list[asyncio.Task[None]], stop: Stop) -> None:
        latch = asyncio.create_task(stop.wait())
        everything = asyncio.ensure_future(asyncio.gather(*tasks, return_exceptions=True))
        waited: set[asyncio.Future[Any]] = {latch, everything}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            latch.cancel()
        self.events.put_nowait((None, asyncio.Event(), 0.0))

    async def _stopped(self, tasks: list[asyncio.Task[None]], stop: Stop) -> AsyncIterator[Event]:
        self.stopping = True
        late = self._left()
        # Threads that end meanwhile take themselves out of `alive`: only a copy can be looked through.
        ending: list[asyncio.Future[Any]] = [*tasks, *(work for _, work in tuple(self.alive.values()))]
        for task in tasks:
            if task not in self.closing:
                task.cancel()
        if self.closing:
            await asyncio.wait(self.closing, timeout=CLOSE_GRACE)
        for task in self.closing:
            task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=LAST_GRACE if self.closing else STOP_GRACE)
        for event in (*late, *self._left()):
            yield event
        if alive := tuple(self.alive.values()):
            names = ", ".join(sorted({name for name, _ in alive}))
            yield Noticed(f"Stopped without waiting for {names}, which cannot be ended and may go on by itself.")
        yield Interrupted(by=stop.by)

    def _left(self) -> list[Event]:
        """What of the told events that nobody took has to be known all the same. Whoever told one waits no longer."""
        told: list[Event] = []
        while not self.events.empty():
            event, taken, _ = self.events.get_nowait()
            taken.set()
            if isinstance(event, LATE):
                told.append(event)
        return [*told, *(result for result, _ in self.order.held())]

    async def tell(self, event: Event, moment: float) -> None:
        """Put `event` before whoever plays the turn; returns when it was taken, or nobody will any more."""
        taken = asyncio.Event()
        self.events.put_nowait((event, taken, moment))
        if not self.stopping:
            await taken.wait()

    def _order(self, ready: Sequence[Ready | Answered], stop: Stop) -> AsItComes:
        if not self.rules.ordered:
            return AsItComes(self.tell, self.clock)
        return InOrder(self.tell, self.clock, ready, places=self.rules.workers, stop=stop)

    async def _call(self, at: int, ready: Ready | Answered, stop: Stop) -> None:
        tell, floor = (functools.partial(act, at) for act in (self.order.tell, self.order.floor))
        SPEAKER.set(Speaker(ready.call.id, tell, floor, stop, self.rules.tools))
        apart(self.clock)
        if self.rules.ordered:
            self.voices.begins(at)
        try:
            await self.order.turn(at)
            if isinstance(ready, Answered):
                await self._answer(at, ready)
            elif ready.tool.exclusive or ready.risk:
                async with self.lane:
                    await self._admit(at, ready)
            else:
                await self._admit(at, ready)
        finally:
            self.voices.ends(at)

    async def _answer(self, at: int, answered: Answered) -> None:
        refused = Result(answered.text, ok=False)
        await self.order.ends(at, functools.partial(self.rules.finish, answered, refused, 0.0))

    async def _admit(self, at: int, ready: Ready) -> None:
        admitted = await self.rules.admit(ready) if ready.risk else ready
        if isinstance(admitted, Answered):
            await self._answer(at, admitted)
        elif inspect.iscoroutinefunction(ready.tool.run):
            await self._carry_out(at, ready)
        else:
            async with self.places:
                await self._carry_out(at, ready)

    async def _carry_out(self, at: int, ready: Ready) -> None:
        await SPEAKER.get().tell(Started(ready.call.id, ready.tool.repeatable))
        if ready.tool.closes and (task := asyncio.current_task()):
            self.closing.add(task)
        began = self.clock.elapsed()
        result = await self._attempt(ready)
        finish = functools.partial(self.rules.finish, ready, result, self.clock.elapsed() - began)
        await self.order.ends(at, finish, long=len(result.text) > INLINE_CHARS)

    async def _attempt(self, ready: Ready) -> Result:
        seconds = self.rules.seconds if ready.tool.seconds is None else ready.tool.seconds
        work = self._begin(ready)
        try:
            await asyncio.wait({work}, timeout=seconds)
            return _outcome(work) if work.done() else await self._overdue(ready, work, seconds)
        except asyncio.CancelledError:
            if work.done() and not work.cancelled():
                return _outcome(work)
            raise
        finally:
            work.cancel()

    def _begin(self, ready: Ready) -> asyncio.Future[Result]:
        run = functools.partial(ready.tool.run, **ready.arguments)
        ended = functools.partial(self.alive.pop, id(ready), None)
        if inspect.iscoroutinefunction(ready.tool.run):
            work: asyncio.Future[Result] = asyncio.ensure_future(_awaited(run))
            work.add_done_callback(lambda _: ended())
        else:
            work = in_thread(functools.partial(_called, run, ended), f"hermes-{ready.tool.name}")
        self.alive[id(ready)] = (ready.tool.name, work)
        return work

    async def _overdue(self, ready: Ready, work: asyncio.Future[Result], seconds: float) -> Result:
        text = f"{ready.tool.name} was ended at its deadline of {seconds:g} s, without a result."
        if not isinstance(work, asyncio.Task):
            return Result(f"{text} Its thread cannot be ended and may still be at work; check first.", ok=False)
        work.cancel()
        await asyncio.wait({work}, timeout=DEADLINE_GRACE)
        if work.done() and not work.cancelled():
            return Result(f"{text}\n{work.result().text}", ok=False)
        return Result(
            text if work.done() else f"{text} It did not end when told to and may still be at work.", ok=False
        )


def _outcome(work: asyncio.Future[Result]) -> Result:
    """What `work` came to. A tool that cancelled or closed itself has failed: only a stop ends a batch."""
    if work.cancelled():
        return failure(asyncio.CancelledError("the tool cancelled itself"))
    error = work.exception()
    return failure(error) if isinstance(error, GeneratorExit) else work.result()


def _called(run: Callable[[], Any], ended: Callable[[], Any]) -> Result:
    try:
        return rendered(run())
    except BaseException as error:  # noqa: BLE001 - a tool's failure, SystemExit included, is its result
        return failure(error)
    finally:
        ended()


async def _awaited(run: Callable[[], Awaitable[Any]]) -> Result:
    try:
        value = await run()
    except (asyncio.CancelledError, GeneratorExit) as error:
        task = asyncio.current_task()
        if isinstance(error, GeneratorExit) or (task is not None and task.cancelling()):
            raise
        return failure(error)
    except BaseException as error:  # noqa: BLE001 - a tool's failure, KeyboardInterrupt included, is its result
        return failure(error)
    if value is None or isinstance(value, (str, int, float, Result)):
        return rendered(value)
    return await in_thread(functools.partial(rendered, value))
