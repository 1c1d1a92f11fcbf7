"""A Python of one's own: the tool `python` over a kernel that is started when it is first needed.

Every call has one honest answer: what was shown, why it ended, and whether the variables of earlier calls are still
there. Nothing that was started outlives `close`, `kill` or the interpreter.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

from hermes_kernel.core.events import Noticed
from hermes_kernel.core.text import scrub
from hermes_kernel.world.kernels.last_words import STARTS
from hermes_kernel.world.kernels.living import Living, NoStart, PortTaken
from hermes_kernel.world.loop_thread import Closed, LoopThread
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.spec import guard
from hermes_kernel.world.tools.capture import Seen
from hermes_kernel.world.tools.danger_python import python_risk
from hermes_kernel.world.tools.python import FENCED
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.speaking import SPEAKER
from hermes_kernel.world.tools.terminal import clean, environment
from hermes_kernel.world.tools.tool import Tool, built_in

START_SECONDS = 60.0  # the same as Jupyter's clients give a kernel
MOMENT = 1.0  # seconds after which a person is told what is waited for; a kernel on this machine takes 0.7
CLOSE_SECONDS = 0.9  # of a close; what is left goes on by itself
KILL_SECONDS = 0.5
SPARE_SECONDS = 30.0  # for interrupting, and for a call before this one to end

FRESH = "[The Python before this one is gone, and with it the variables of earlier calls: this is a new one.]"
CLOSED = "This Python was shut down; nothing can be run in it any more."

_running: set[OwnKernel] = set()
"""Those with a thread, and so perhaps with a process."""


class OwnKernel:
    """A kernel of one's own, started when it is first needed, and again when it has died. `spec` is the name of any
    installed kernelspec whose language is Python, `seconds` the deadline of a call; ``secrets`` are the values that no
    variable in its environment may hold, ``vision`` says which pictures are shown to the model."""

    def __init__(  # noqa: PLR0913 - what a kernel is made of, each by its name
        self, spec: str = "python3", *, cwd: Path, clock: Clock, seconds: float, vision: str = "auto",
        secrets: Callable[[], Collection[str]] = tuple, start_seconds: float = START_SECONDS,
    ) -> None:  # fmt: skip
        self.spec = spec
        self.cwd = cwd
        self._clock = clock
        self._seconds = seconds
        self._vision = vision
        self._secrets = secrets
        self._start_seconds = start_seconds
        self._thread = LoopThread("hermes-own-kernel")
        self._turnstile = asyncio.Lock()
        self._living: Living | None = None
        self._settling: asyncio.Task[bool] | None = None
        self._starting = self._lost = self._closed = False

    def tool(self) -> Tool:
        """The tool ``python``."""

        async def python(code: str) -> Result:
            """Run Python in a process of its own: variables of earlier calls are there and stay; the person's notebook
            is not. Prints, figures and the last expression's value are returned. Top-level await, %magics and
            !commands work. No input is possible. Prefer this for data, computing and plots.

            Args:
                code: The code to run.
            """
            return await self._call(code)

        def risk(arguments: Mapping[str, Any]) -> Risk | None:
            return python_risk(arguments["code"])

        limit = self._start_seconds + self._seconds + SPARE_SECONDS
        return built_in(python, exclusive=True, dangerous=risk, seconds=limit)

    async def close(self) -> None:
        """Shut it down, and kill it if it does not go. It is not started again. Returns within a second."""
        if ending := self._end(now=False):
            await asyncio.wait({asyncio.wrap_future(ending)}, timeout=CLOSE_SECONDS)

    def kill(self) -> None:
        """End it at once, from any thread. It is not started again."""
        if ending := self._end(now=True):
            wait((ending,), KILL_SECONDS)

    # --- a call, on its caller's loop

    async def _call(self, code: str) -> Result:
        if self._closed:
            raise ToolError(CLOSED)
        fenced = FENCED.fullmatch(code)
        try:
            work = asyncio.wrap_future(self._thread.submit(self._run(fenced[1] if fenced else code)))
        except Closed:
            raise ToolError(CLOSED) from None
        _running.add(self)
        moment = asyncio.ensure_future(guard(self._clock)(MOMENT))
        first: set[asyncio.Future[Any]] = {work, moment}
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            speaker = SPEAKER.get(None)
            starting = self._starting or self._living is None
            if starting and not work.done() and speaker is not None:
                await speaker.tell(Noticed(f"Starting a Python of its own ({self.spec})."))
            return await work
        finally:
            moment.cancel()
            work.cancel()

    # --- the kernel, on the loop of its thread

    async def _run(self, code: str) -> Result:
        async with self._turnstile:
            living = await self._ready()
            seen = Seen(self._vision, where="")
            problem = await self._bounded(living, code, seen)
            parts = (FRESH if self._lost else "", clean(seen.text()), problem)
            self._lost = False  # now that it is told: the answer to a call that is stopped is heard by nobody
            if living.over:
                await self._bury(living)
            told = "\n".join(part for part in parts if part)
            text = told or "Done. Nothing was printed: print(...) a value to see it."
            return Result(scrub(text), ok=not problem, images=tuple(seen.images))

    async def _ready(self) -> Living:
        if self._settling is not None:
            await self._settling
            self._settling = None
        if self._living is not None and not await self._living.lives():
            await self._bury(self._living)
        if self._closed:
            raise ToolError(CLOSED)
        return self._living or await self._start()

    async def _start(self) -> Living:
        try:
            for _ in range(STARTS - 1):
                with contextlib.suppress(PortTaken):
                    return await self._begun()
            return await self._begun()
        except NoStart as error:
            raise ToolError(str(error)) from error

    async def _begun(self) -> Living:
        if self._closed:
            raise ToolError(CLOSED)
        self._living = living = Living(self.spec, self.cwd, environment(os.environ, self._secrets()))
        self._starting = True
        try:
            await living.start(self._start_seconds)
        except BaseException:
            await living.end(now=True)
            self._living = None
            raise
        finally:
            self._starting = False
        return living

    async def _bounded(self, living: Living, code: str, seen: Seen) -> str:
        work = asyncio.ensure_future(living.run(code, seen))
        try:
            await asyncio.wait({work}, timeout=self._seconds)
        except asyncio.CancelledError:
            self._settling = asyncio.ensure_future(living.interrupt(work))
            raise
        if work.done():
            return work.result()
        ended = f"at its deadline of {self._seconds:g} s"
        if await living.interrupt(work):
            return f"{work.result()}\n[The code was interrupted {ended}; the variables are still there.]".lstrip()
        return f"[The code did not end when interrupted {ended}: its Python was killed, its variables are gone.]"

    async def _bury(self, living: Living) -> None:
        self._lost = True
        await living.end(now=True)
        self._living = None

    # --- the end

    def _end(self, *, now: bool) -> Future[None] | None:
        self._closed = True
        if not self._thread.begun:
            return None
        with contextlib.suppress(Closed):
            return self._thread.submit(self._shut(now=now))
        return None

    async def _shut(self, *, now: bool) -> None:
        """The thread goes when the kernel has gone."""
        try:
            if self._living is not None:
                await self._living.end(now=now)
        finally:
            _running.discard(self)
            self._thread.end()


@atexit.register
def _kill_all() -> None:
    endings = [ending for kernel in tuple(_running) if (ending := kernel._end(now=True))]  # noqa: SLF001 - our own class
    wait(endings, KILL_SECONDS)
