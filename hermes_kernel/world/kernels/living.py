"""One kernel that lives: its start, the code it runs, its interrupts and its end. All on one event loop.

Started by `jupyter_client` from any kernelspec, so that its provisioner decides on which machine. It is watched, and
whoever waits for a dead one is told at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hermes_kernel.core.text import brief
from hermes_kernel.world.kernels.heard import Heard
from hermes_kernel.world.kernels.last_words import LastWords
from hermes_kernel.world.passing_folder import PassingFolder
from hermes_kernel.world.tools.capture import Seen
from hermes_kernel.world.tools.runaways import kill_marked, marked

WATCH_SECONDS = 0.1  # between two looks at whether it lives
ASK_SECONDS = 0.5  # before a kernel that is starting is asked again: what was published before we listened is lost
IDLE_SECONDS = 1.0  # without a message, after the reply: what would still be shown is lost
LOOK_SECONDS, LOOKS = 0.1, 25  # whether code has ended that was interrupted, before its kernel is killed
AGAIN = 10  # looks after which it is interrupted again: a library may have swallowed the first
PART_BYTES = 8_000_000  # of a message; a larger one is neither copied nor read: that holds all threads for 0.1 s
HOW = {"silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
GONE = "Its variables are gone."
SHUTDOWN_SECONDS = 0.6  # asked politely, then told, then killed: the whole of a close is to take a second

LOG = logging.getLogger("hermes_kernel.kernels")  # jupyter_client's; what a person is to know is in the answers
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


class NoStart(Exception):
    """The kernel did not start. One line says why."""


class PortTaken(NoStart):
    """One of its ports was taken between being chosen and being bound."""


class Living:
    """A kernel of the kernelspec `spec`, from `start` to `end`. ``over`` once it is dead or given up."""

    def __init__(self, spec: str, cwd: Path, environ: Mapping[str, str]) -> None:
        from jupyter_client.manager import AsyncKernelManager

        self._cwd = cwd
        self._environ, self._mark = marked(environ)
        self._manager = AsyncKernelManager(kernel_name=spec, log=LOG)
        self._manager.shutdown_wait_time = SHUTDOWN_SECONDS
        self._client: Any = None
        self._words = LastWords()
        self._profile: PassingFolder | None = None
        self._death: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Task[None]] = []
        self._ending: asyncio.Task[None] | None = None
        self._heard: Heard | None = None

    @property
    def over(self) -> bool:
        return self._death.done()

    async def lives(self) -> bool:
        """Whether it is there at this moment; the watch may not have looked since."""
        provisioner = self._manager.provisioner
        if not self.over and provisioner is not None and (code := await provisioner.poll()) is not None:
            self._die(_manner(code))
        return not self.over

    # --- the beginning

    async def start(self, seconds: float) -> None:
        """Return when it answers.

        Raises:
            PortTaken: it died or hangs because of its ports; another may be started.
            NoStart: it cannot be started, it died, or does not answer within so many seconds.
        """
        try:
            async with self._words.limit(seconds):
                await self._launch()
                await self._answer()
        except TimeoutError:
            how = f"did not answer within {seconds:g} s"
        else:
            if not self.over:
                return
            how = f"ended as it started ({self._death.result()})"
        if self._words.taken:
            raise PortTaken(self._unstarted("did not start"))
        raise NoStart(self._unstarted(how))

    async def _launch(self) -> None:
        """Start it with a profile of IPython's that is empty and thrown away: it runs none of a person's startup files,
        and leaves nothing in their history."""
        from jupyter_client.kernelspec import NoSuchKernel

        name = self._manager.kernel_name
        try:
            self._profile = PassingFolder("python")
            environ = {**self._environ, "IPYTHONDIR": str(self._profile.path)}
            await self._manager.start_kernel(
                cwd=str(self._cwd), env=environ, stdout=self._words.write, stderr=self._words.write
            )
        except NoSuchKernel:
            raise NoStart(_absent(name)) from None
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            raise NoStart(f"The kernel {name} could not be started: {brief(str(error), 300)}") from error
        self._words.started()
        self._client = self._manager.client(context=self._manager.context)
        self._client.start_channels(stdin=False, hb=False)
        for work in (
            self._watch(),
            self._listen(self._client.shell_channel, Heard.shell),
            self._listen(self._client.iopub_channel, Heard.iopub),
        ):
            self._tasks.append(asyncio.create_task(work))
            self._tasks[-1].add_done_callback(self._failed)

    async def _answer(self) -> None:
        heard = self._hear(Seen("off"))
        while not (self.over or (heard.replied.done() and heard.idle.done())):
            await self._ask("kernel_info_request", {}, heard)
            both = asyncio.gather(heard.replied, heard.idle)
            await self._first(both, ASK_SECONDS)

    def _unstarted(self, how: str) -> str:
        last = self._words.line()
        return f"The kernel {self._manager.kernel_name} {how}{': ' + last if last else '.'}"

    # --- its work

    async def run(self, code: str, seen: Seen) -> str:
        """Run `code`; what went wrong, or ``""``. What it shows is added to `seen`."""
        heard = self._hear(seen, quiet=code.rstrip().endswith(";"))
        await self._ask("execute_request", {"code": code, **HOW}, heard)
        await self._first(heard.replied, None)
        if not heard.replied.done():
            return f"The Python process ended while the code ran ({self._death.result()}). {GONE}"
        before = -1
        while not (heard.idle.done() or self.over) and heard.count > before:
            before = heard.count
            await self._first(heard.idle, IDLE_SECONDS)
        if heard.leaving:
            self._die("it was ended by its code")
            return f"SystemExit: the code ended its own Python process. {GONE}"
        return heard.problem

    async def interrupt(self, work: asyncio.Future[str]) -> bool:
        """End the code that `work` runs; whether it ended. If not, the kernel is killed."""
        for look in range(LOOKS):
            if work.done() or self.over:
                return not self.over
            if look % AGAIN == 0:
                with contextlib.suppress(OSError, RuntimeError):  # it dies just now
                    await self._manager.interrupt_kernel()
            # A loop in which code awaits hears of a signal when a message wakes it, and that one may come first.
            await self._ask("kernel_info_request", {})
            await asyncio.wait({work}, timeout=LOOK_SECONDS)
        if not work.done():
            await self.kill()
        return not self.over

    def _hear(self, seen: Seen, *, quiet: bool = False) -> Heard:
        loop = asyncio.get_running_loop()
        self._heard = Heard(seen, loop.create_future(), loop.create_future(), quiet)
        return self._heard

    async def _ask(self, kind: str, content: Mapping[str, Any], heard: Heard | None = None) -> None:
        """Sent as a message is received, through the event loop: what `jupyter_client` sends past it takes with it the
        one sign that an answer has come."""
        if self.over:
            return
        channel = self._client.shell_channel
        message = channel.session.msg(kind, content)
        if heard is not None:
            heard.ids.add(message["header"]["msg_id"])
        await channel.socket.send_multipart(channel.session.serialize(message))

    async def _listen(self, channel: Any, take: Callable[[Heard, Mapping[str, Any]], None]) -> None:
        while True:
            frames = await channel.socket.recv_multipart(copy=False)
            parts = [frame.bytes if len(frame) <= PART_BYTES else frame.buffer for frame in frames]
            try:
                _, parts = channel.session.feed_identities(parts)
                message = channel.session.deserialize(parts, content=isinstance(parts[4], bytes))
            except (ValueError, TypeError, IndexError):  # not signed by the kernel, or no message at all
                continue
            if self._heard is not None and message["parent_header"].get("msg_id") in self._heard.ids:
                take(self._heard, message)

    async def _first(self, work: asyncio.Future[Any], seconds: float | None) -> None:
        """Wait for `work`, but not longer than the kernel lives."""
        await asyncio.wait({work, self._death}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    # --- the end

    async def _watch(self) -> None:
        code: int | None = None
        while code is None and self._manager.provisioner is not None:
            await asyncio.sleep(WATCH_SECONDS)
            code = await self._manager.provisioner.poll()
        await asyncio.sleep(WATCH_SECONDS)  # what it said before is still on its way
        self._die(_manner(code))

    def _die(self, how: str) -> None:
        if not self._death.done():
            self._death.set_result(how)

    def _failed(self, task: asyncio.Task[None]) -> None:
        """Whoever waits for the kernel hears that nobody listens to it any more."""
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._death.done():
            self._death.set_exception(error)

    async def kill(self) -> None:
        """At once, with all it has started."""
        self._die("it was killed")
        if self._manager.provisioner is not None:
            await self._manager.provisioner.kill()
        kill_marked(self._mark)

    async def end(self, *, now: bool) -> None:
        """Shut it down, kill it if that takes too long, and let go of what it held. Any number of times."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._let_go(now=now or self.over))
        elif now:
            await self.kill()
        await asyncio.shield(self._ending)

    async def _let_go(self, *, now: bool) -> None:
        self._die("it was shut down")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._client is not None:
            self._client.stop_channels()
        try:
            if now:
                await self.kill()
            await self._manager.shutdown_kernel(now=now)
        finally:
            kill_marked(self._mark)
            self._words.close()
            if self._profile is not None:
                self._profile.close()


def _manner(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code or 0}"
    known = {each.value: each.name for each in signal.Signals}
    return f"killed by {known.get(-code, f'signal {-code}')}"


def _absent(name: str) -> str:
    from jupyter_client.kernelspec import KernelSpecManager

    installed = sorted(KernelSpecManager().find_kernel_specs())
    if name in installed:
        return f"The kernel {name} is installed, but not the provisioner that would start it."
    return f"There is no kernel {brief(repr(name), 80)}. Installed: {', '.join(installed) or 'none'}."
