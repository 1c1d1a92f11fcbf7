"""What the person ran since the last turn, as a model is told of it: source, text output and errors, all bounded.

Who checks a notebook runs its cells so that no history is kept of them, as programs do that look at variables between
two cells of a person. In a spec they are taken for a person's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_kernel.core.text import CELLS, END_OF_CELLS, brief

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

KEPT = 20  # cells
SOURCE, OUTPUT, ALL = 2000, 1000, 12_000  # characters
OURS = ("%%hermes", "%hermes", "%load_ext", "%reload_ext", "%config HermesMagics")


class Cell(NamedTuple):
    """A cell that was run. Of an ``unkept`` one IPython keeps no history."""

    number: int
    source: str
    output: str
    error: str
    unkept: bool = False


class Cells:
    """Remembers cells as they are run. Reads outputs where IPython keeps them; changes nothing."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._run: deque[Cell] = deque(maxlen=KEPT)
        self._unkept = 0
        self._before: dict[int, int] = {}
        shell.events.register("pre_run_cell", self._runs)
        shell.events.register("post_run_cell", self._ran)

    def close(self) -> None:
        """Stop remembering."""
        with suppress(ValueError):  # closed already
            self._shell.events.unregister("pre_run_cell", self._runs)
            self._shell.events.unregister("post_run_cell", self._ran)

    def forget(self) -> None:
        """They have been told: a new account begins."""
        self._run.clear()

    def told(self, *, spec: bool = False) -> str:
        """The cells since the last account, the latest where not all fit; empty when there are none."""
        cells, room = [cell for cell in self._run if spec or not cell.unkept], ALL
        told: list[str] = []
        for cell in reversed(cells):
            text = _told(cell)
            if len(text) > room:
                told.append(f"[{len(cells) - len(told)} earlier cells are left out]")
                break
            room -= len(text)
            told.append(text)
        if not told:
            return ""
        return "\n".join([CELLS, *reversed(told), END_OF_CELLS])

    def _runs(self, _: ExecutionInfo) -> None:
        self._before = {count: len(outputs) for count, outputs in _near(self._shell)}

    def _ran(self, result: ExecutionResult | None) -> None:
        info = result and result.info
        if not result or not info or info.silent:
            return
        cell = (info.raw_cell or "").strip()
        unkept = not info.store_history
        self._unkept += unkept and bool(cell)
        source = _theirs(cell)
        if not source:
            return
        error = result.error_before_exec or result.error_in_exec
        said = f"{type(error).__name__}: {brief(str(error), 500)}" if error else ""
        number = self._unkept if unkept else result.execution_count or 0
        self._run.append(Cell(number, source, _text(self._shown()), said, unkept))

    def _shown(self) -> list[Any]:
        """What is kept of outputs since the cell began: of cells without a history it is kept under one number."""
        return [output for count, outputs in _near(self._shell) for output in outputs[self._before.get(count, 0) :]]


def _theirs(cell: str) -> str:
    """`cell` without the lines that are for us; the text of another magic is the magic's, whatever is in it."""
    if cell.startswith("%%"):
        return "" if cell.startswith(OURS) else cell
    return "\n".join(line for line in cell.split("\n") if not line.startswith(OURS)).strip("\n")


def _near(shell: InteractiveShell) -> list[tuple[int, list[Any]]]:
    """The outputs that IPython keeps under the present number and its neighbours."""
    kept: dict[int, list[Any]] = getattr(shell.history_manager, "outputs", None) or {}
    present = shell.execution_count
    return [(count, kept[count]) for count in (present - 1, present, present + 1) if count in kept]


def _text(outputs: Iterable[Any]) -> str:
    parts = []
    for output in outputs:
        stream = output.bundle.get("stream")
        parts.append("".join(stream) if stream else str(output.bundle.get("text/plain", "")))
    return "\n".join(part.strip("\n") for part in parts if part.strip())


def _told(cell: Cell) -> str:
    lines = [f"In [{cell.number}]:", _cut(cell.source, SOURCE)]
    lines += [f"Output: {_cut(cell.output, OUTPUT)}"] if cell.output else []
    lines += [f"Error: {cell.error}"] if cell.error else []
    return "\n".join(lines)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]}\n[…]\n{text[-limit // 2 :]}"
