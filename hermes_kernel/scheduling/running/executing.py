"""A notebook executed from top to bottom in a kernel of its own, through nbclient. Nothing waits for a person, a stop
ends it within a second, and the kernel is gone when it is over, however it is left."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellExecutionError, DeadKernelError

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.running.listening import Client
from hermes_kernel.world.kernels import PACED
from hermes_kernel.world.kernels.last_words import STARTS, LastWords
from hermes_kernel.world.stop import PATIENCE_SECONDS, Stop, Stopped
from hermes_kernel.world.tools.runaways import kill_marked, marked
from hermes_kernel.world.tools.terminal import clean

if TYPE_CHECKING:
    from nbformat import NotebookNode

START_SECONDS = 60  # the same as Jupyter's clients give a kernel
LOOK_SECONDS = 0.1  # between two looks at whether a cell has ended that was interrupted
LEAVE_SECONDS = 10.0  # in which a kernel puts its things in order: told after half of it, then killed
HURRY_SECONDS = 0.3  # the same, when it was stopped
MARK = "HERMES_EXECUTION"  # in the environment of all that a notebook starts, its tools' commands included
LINE = 600  # characters of a line of ours, so that what is to be done, which it ends with, is in it
FULL = "it showed more than {} million characters: the beginning is in the notebook"
NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
IPYTHON = ("--IPKernelApp.log_level=ERROR", "--HistoryManager.hist_file=:memory:")  # plain TCP is loopback here
PYTHONS = ("python", "python3", f"python3.{sys.version_info.minor}")  # in a specification: the Python that starts it
HERMES = KernelSpec(
    argv=[
        sys.executable, "-m", "ipykernel_launcher",  # which takes nothing in the folder for Python's own
        "--IPKernelApp.kernel_class=hermes_kernel.kernel.HermesKernel", "-f", "{connection_file}",
    ],
    display_name="Hermes", language="python", interrupt_mode="message",
)  # fmt: skip

LOG = logging.getLogger("hermes_kernel.runs")  # nbclient's and jupyter_client's; what is to be known is in the errors
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


class Kernels(KernelSpecManager):
    """The kernels that are installed, and always `hermes`, in the Python that this runs in."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return HERMES if kernel_name == "hermes" else super().get_kernel_spec(kernel_name)


class Execution:
    """Of `notebook`, in the kernel of this ``name``, in the folder ``cwd``. ``changed`` is called whenever an output
    is new, ``begins`` with the place of each code cell; one that is interrupted is given ``patience`` seconds to end
    before its kernel is killed.

    Raises:
        HermesError: there is no such kernel, or no such folder.
    """

    def __init__(  # noqa: PLR0913 - what an execution is made of, each by its name
        self, notebook: NotebookNode, name: str, cwd: Path, environ: Mapping[str, str], *,
        patience: float = PATIENCE_SECONDS,
        changed: Callable[[], None] = lambda: None, begins: Callable[[int], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._notebook = notebook
        self._patience = patience
        self._cwd = cwd
        self._environ, self._mark = marked(environ, MARK)
        self._begins = begins
        self._manager = _manager(name)
        if not cwd.is_dir():
            raise HermesError(f"The folder {cwd} is not there.")
        # A turn has its own limits, and a run one of its own; a cell has none beside them.
        timing = {"timeout": None, "record_timing": False}  # times would be others in each run, and in every diff
        self._client: Any = Client(notebook, km=self._manager, kernel_name=name, log=LOG, **timing)
        self._client.changed = changed
        self._words: LastWords
        self._leaving = self._done = False  # nothing more is to be begun; nothing more is to be waited for

    async def run(self, stop: Stop) -> None:
        """Execute it; the notebook holds what came of it, also when this raises.

        Raises:
            HermesError: a cell failed, or the kernel did. One line says why.
            Stopped: `stop` was pressed.
        """
        self._words = LastWords()
        try:
            await stop.race(self._start())
            await self._until(asyncio.ensure_future(self._cells()), stop)
        except (DeadKernelError, RuntimeError) as error:
            self._done = False
            await asyncio.sleep(LOOK_SECONDS)  # what it said last is still on its way
            raise HermesError(_died(self._manager.kernel_name, error, self._words.line())) from None
        except (HermesError, Stopped):
            raise
        except Exception as error:  # nbclient believes what a kernel sends, and kernels send anything
            raise HermesError(f"the kernel said what cannot be understood: {brief(repr(error), 200)}") from error
        finally:
            await asyncio.shield(self._end())
            self._words.close()

    async def _start(self) -> None:
        """Start it; another one where its ports were taken meanwhile."""
        for left in reversed(range(STARTS)):
            try:
                await self._begin()
                break
            except RuntimeError:
                await asyncio.sleep(LOOK_SECONDS)
                if not (left and self._words.taken):
                    raise
            await self._end()
            self._words.close()
            self._words = LastWords()
            self._manager = self._client.km = _manager(self._manager.kernel_name)

    async def _begin(self) -> None:
        try:
            await self._manager.start_kernel(
                cwd=str(self._cwd), env=self._environ, stdout=self._words.write, stderr=self._words.write,
                extra_arguments=_options(self._manager),
            )  # fmt: skip
        except (OSError, ValueError, ImportError) as error:
            raise HermesError(
                f"The kernel {self._manager.kernel_name} could not be started: {brief(str(error), 300)}"
            ) from None
        self._words.started()
        self._client.kc = kc = self._manager.client(context=self._manager.context)
        kc.start_channels(stdin=False, hb=False)
        try:
            async with self._words.limit(START_SECONDS):
                await kc.wait_for_ready(timeout=None)
        except TimeoutError:
            raise RuntimeError(f"it did not answer within {START_SECONDS} s") from None
        kc.allow_stdin = False

    async def _cells(self) -> None:
        told = await self._client.async_wait_for_reply(self._client.kc.kernel_info())
        if told and isinstance(told["content"].get("language_info"), dict):
            self._notebook.metadata["language_info"] = told["content"]["language_info"]
        for n, cell in enumerate(self._notebook.cells):
            if self._leaving:
                return
            if cell.cell_type == "code":
                self._begins(n)
                cell.metadata.pop("execution", None)
            try:
                await self._client.async_execute_cell(cell, n, execution_count=self._client.code_cells_executed + 1)
            except CellExecutionError as error:
                raise HermesError(_failed(error)) from None
        self._client.set_widgets_metadata()

    async def _until(self, work: asyncio.Future[None], stop: Stop) -> None:
        """What comes of `work`, unless `stop` is pressed while it goes on, or it shows more than can be kept."""
        latches = asyncio.ensure_future(stop.wait()), asyncio.ensure_future(self._client.full.wait())
        try:
            await asyncio.wait({work, *latches}, return_when=asyncio.FIRST_COMPLETED)
            if work.done() and not self._client.full.is_set():
                self._done = True
                work.result()
                return
            await self._interrupt(work)
            if self._client.full.is_set():
                raise HermesError(FULL.format(self._client.most // 1_000_000))
            raise Stopped(stop.by)
        finally:
            for each in (work, *latches):
                each.cancel()
            await asyncio.gather(work, *latches, return_exceptions=True)

    async def _interrupt(self, work: asyncio.Future[None]) -> None:
        self._leaving = True
        with suppress(OSError, RuntimeError):  # it dies just now
            await self._manager.interrupt_kernel()
        for _ in range(round(self._patience / LOOK_SECONDS)):
            # A loop in which code awaits hears of a signal when a message wakes it, and that one may come first.
            self._client.kc.kernel_info()
            await asyncio.wait({work}, timeout=LOOK_SECONDS)
            if work.done():
                return
        if self._manager.provisioner is not None:
            await self._manager.provisioner.kill()

    async def _end(self) -> None:
        """Shut it down, kill it if that takes too long, and let go of what it held. What it has started goes with it,
        unless all was done that was to be done."""
        if self._client.kc is not None:
            self._client.kc.stop_channels()
        try:
            if self._manager.has_kernel:
                self._manager.shutdown_wait_time = LEAVE_SECONDS if self._done else HURRY_SECONDS
                with suppress(RuntimeError, OSError):  # it has just died
                    await self._manager.shutdown_kernel()
        finally:
            with suppress(RuntimeError, OSError):
                await self._manager.cleanup_resources()
            if not self._done:
                kill_marked(self._mark, MARK)


def _manager(name: str) -> AsyncKernelManager:
    kernels = Kernels(log=LOG)
    try:
        kernels.get_kernel_spec(name if NAME.fullmatch(name) else "")
    except (NoSuchKernel, OSError, ValueError, TypeError):
        shown = brief(name, 80)
        raise HermesError(
            f"there is no kernel {shown} here. `jupyter kernelspec list` shows those there are."
        ) from None
    return AsyncKernelManager(kernel_name=name, kernel_spec_manager=kernels, log=LOG)


def _options(manager: AsyncKernelManager) -> list[str]:
    """What IPython's kernels are told; one in this Python also not to gather what is printed without end."""
    if manager.kernel_name not in ("hermes", "python3"):
        return []
    here = manager.kernel_spec is not None and manager.kernel_spec.argv[0] in (sys.executable, *PYTHONS)
    return [*IPYTHON, *([f"--IPKernelApp.outstream_class={PACED}"] if here else [])]


def _failed(error: CellExecutionError) -> str:
    """What a cell that failed has to say, in a line."""
    said = brief(clean(str(error.evalue)), LINE)
    if error.ename == "HermesError" and said:
        return said
    return f"a cell failed: {brief(clean(f'{error.ename}: {error.evalue}'), 300).rstrip(': ')}"


def _died(name: str, error: Exception, last: str) -> str:
    if isinstance(error, DeadKernelError):
        return "the kernel died" + (f": {last}" if last else "")
    why = last or brief(clean(str(error)), 300)
    return f"The kernel {name} did not start: {why}"
