"""The notebook of a run on disk: whole at any moment, its owner's alone, and without secrets in what was shown."""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.text import scrub
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.running.nodes import written
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.disk import FULL, full, put

if TYPE_CHECKING:
    from nbformat import NotebookNode

SECONDS = 1.0  # between two times that a cell which still shows something is saved
QUICK = 0.05  # seconds; whoever runs a thousand cells does not wait for the disk a thousand times
SHARE = 20  # times as long as saving took is waited for before it is saved again
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf")


class Saver:
    """Writes to ``path``; ``redact`` takes secrets out of a text."""

    def __init__(self, path: Path, redact: Callable[[str], str], clock: Clock) -> None:
        self.path = path
        self._redact = redact
        self._clock = clock
        self._changed = asyncio.Event()
        self._took = 0.0

    def changed(self) -> None:
        """There is something new to save, soon."""
        self._changed.set()

    def save(self, notebook: NotebookNode) -> None:
        """On disk when it returns.

        Raises:
            HermesError: it cannot be written. What was saved before stands.
        """
        began = self._clock.elapsed()
        try:
            write(self._clean(notebook), self.path)
        except OSError as error:
            raise HermesError(_unwritten(self.path, error)) from None
        finally:
            self._took = self._clock.elapsed() - began
        self._changed.clear()

    def save_soon(self, notebook: NotebookNode) -> None:
        """Between two cells: at once where that is quick, else it is left to `keep_saving`."""
        if self._changed.is_set() and self._took < QUICK:
            with suppress(HermesError):
                self.save(notebook)

    async def keep_saving(self, notebook: NotebookNode) -> None:
        """Until it is cancelled. What cannot be written now is tried again, and told at the end of the run."""
        while True:
            await self._changed.wait()
            with suppress(HermesError):
                self.save(notebook)
            await self._clock.sleep(max(SECONDS, SHARE * self._took))

    def _clean(self, notebook: NotebookNode) -> NotebookNode:
        shown = copy.copy(notebook)
        shown.cells = [self._without_secrets(cell) for cell in notebook.cells]
        return shown

    def _without_secrets(self, cell: NotebookNode) -> NotebookNode:
        if cell.cell_type != "code" or not cell.outputs:
            return cell
        cell = copy.copy(cell)
        cell.outputs = [self._any(each) for each in cell.outputs]
        return cell

    def _any(self, value: Any) -> Any:
        match value:
            case str():
                return self._redact(value)
            case list():
                return [self._any(each) for each in value]
            case dict():
                same = type(value)
                return same({key: each if key in PICTURES else self._any(each) for key, each in value.items()})
        return value


def write(notebook: NotebookNode, path: Path) -> None:
    """All of it or nothing.

    Raises:
        OSError: the disk is full or does not take it; the file is as it was.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        put(scrub(written(notebook)).encode(), path, fresh)
    finally:
        fresh.unlink(missing_ok=True)


def _unwritten(path: Path, error: OSError) -> str:
    if error.errno in FULL:
        return full(path.parent)
    return f"the notebook {path} cannot be written: {error.strerror or error}"
