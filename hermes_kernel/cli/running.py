"""What ``hermes-kernel run`` does: a notebook executed from top to bottom, its outputs kept, also when a cell fails."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import HERE
from hermes_kernel.cli.trouble import Failure, Misuse, in_a_shell
from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError
from hermes_kernel.export.saving import save_over
from hermes_kernel.scheduling.notebooks import parameters_in
from hermes_kernel.scheduling.running.executing import Execution
from hermes_kernel.scheduling.running.nodes import kernel_of, read, written
from hermes_kernel.scheduling.running.parameters import assigned, typed
from hermes_kernel.scheduling.running.template import for_python, inject
from hermes_kernel.scheduling.staying import signals_press
from hermes_kernel.scheduling.values import is_variable
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.recording.beside import BESIDE, CASSETTES, beside
from hermes_kernel.world.recording.player import Player, stamp
from hermes_kernel.world.stop import Stop, Stopped

if TYPE_CHECKING:
    from nbformat import NotebookNode


def execute(options: argparse.Namespace) -> int:
    """Execute, telling on stderr which cell is running and how long each took.

    Raises:
        Misuse: there is no such notebook, kernel, recording or folder, or it is none.
        Failure: a cell failed; the notebook holds everything up to there.
    """
    source, values = _source(options), dict(map(_value, options.parameters))
    target = _target(options, source)
    cassettes = _cassettes(options, source)
    progress, tally = Progress(), Tally(cassettes.get("record"))
    try:
        notebook = read(source)
        kernel = options.kernel or kernel_of(notebook)
        _fill(notebook, source, kernel, values)
        execution = Execution(
            notebook, kernel, source.absolute().parent, _environ(source, cassettes), begins=progress.begins
        )
    except HermesError as error:
        raise Misuse(str(error)) from None
    progress.of(notebook.cells)
    try:
        asyncio.run(_until_a_signal(execution))
    except HermesError as error:
        raise Failure(f"{source}: {in_a_shell(str(error))}") from None
    finally:
        progress.ends()
        tally.ends()
        _write(notebook, target)
    print(f"{target}: done", file=sys.stderr)
    return 0


async def _until_a_signal(execution: Execution) -> None:
    stop = Stop()
    try:
        with signals_press(stop):
            await execution.run(stop)
    except Stopped:
        raise HermesError(f"stopped by {stop.by}") from None


class Progress:
    """A line on stderr for each code cell that has something in it: which of how many, how it begins, and in the end
    how long it took."""

    def __init__(self) -> None:
        self._lines: dict[int, str] = {}
        self._began: float | None = None

    def of(self, cells: Sequence[Any]) -> None:
        """These will run."""
        places = [n for n, cell in enumerate(cells) if cell.cell_type == "code" and cell.source.strip()]
        self._lines = {n: f"[{k}/{len(places)}] {_head(cells[n].source)}" for k, n in enumerate(places, 1)}

    def begins(self, n: int) -> None:
        """The cell at this place does, and the one before it has ended."""
        self.ends()
        if n in self._lines:
            self._began = time.monotonic()
            print(self._lines[n], end="", file=sys.stderr, flush=True)

    def ends(self) -> None:
        """Whatever ran has ended."""
        if self._began is not None:
            print(f"  {time.monotonic() - self._began:.1f} s", file=sys.stderr, flush=True)
            self._began = None


class Tally:
    """A line on stderr in the end that says what was recorded in ``path``."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._before = stamp(path) if path else ()

    def ends(self) -> None:
        """Nothing more is recorded."""
        if self._path is None:
            return
        if stamp(self._path) == self._before:
            print(f"{self._path}: nothing was recorded", file=sys.stderr)
            return
        with suppress(SettingsError):  # somebody else's, who wrote it meanwhile
            held = Player(self._path).cassette
            told = ", ".join((counted(len(held.exchanges), "exchange"), counted(len(held.calls), "call")))
            print(f"{self._path}: {told}", file=sys.stderr)


def _head(source: str) -> str:
    """Its first line; behind a cell magic, which says little, the next one too."""
    lines = [line for line in source.splitlines() if line.strip()]
    return brief(clean(" ".join(lines[: 2 if lines[0].startswith("%%") else 1])), 70)


def _source(options: argparse.Namespace) -> Path:
    """The notebook. Written behind an option whose FILE may be left out, it was taken for that one."""
    if options.notebook is None:
        taken = next((name for name in CASSETTES if str(getattr(options, name)).endswith(".ipynb")), None)
        if taken is None:
            raise Misuse("run needs a NOTEBOOK: the .ipynb file to execute.")
        options.notebook = getattr(options, taken)
        setattr(options, taken, BESIDE)
    return Path(options.notebook)


def _cassettes(options: argparse.Namespace, source: Path) -> dict[str, Path]:
    """What it records in and what it answers from, by the names of their options."""
    said = {name: file for name in CASSETTES if (file := getattr(options, name)) is not None}
    files = {name: (Path(file) if file else beside(source)).absolute() for name, file in said.items()}
    replay = files.get("replay")
    if replay and not replay.is_file() and files.get("record") != replay:
        raise Misuse(f"there is no recording {replay}. `{HERE} run {source} --record` makes one.")
    return files


def _environ(source: Path, cassettes: dict[str, Path]) -> dict[str, str]:
    """That of its kernel: whose it is, as a Jupyter server tells it, for its conversations are found by it; and what it
    records or answers from: then sets have the same order each time."""
    named = {f"HERMES_{name.upper()}": str(path) for name, path in cassettes.items()}
    steady = {"PYTHONHASHSEED": "0"} if cassettes else {}
    return {**steady, **os.environ, "JPY_SESSION_NAME": str(source.absolute()), **named}


def _value(said: str) -> tuple[str, Any]:
    name, equals, value = said.partition("=")
    if not equals or not is_variable(name.strip()):
        raise Misuse(f"{brief(repr(said), 40)} is no NAME=VALUE with the name of a variable, such as week=48.")
    return name.strip(), typed(value)


def _fill(notebook: NotebookNode, source: Path, kernel: str, values: dict[str, Any]) -> None:
    """Put the values in, and say which of them the notebook does not seem to wait for.

    Raises:
        HermesError: it is not for Python.
    """
    if not values:
        return
    for_python(notebook, str(source))
    known = parameters_in(notebook.cells)
    inject(notebook, assigned(values), kernel)
    if not known:
        print(f"{HERE}: no cell of {source} is tagged `parameters` and assigns something", file=sys.stderr)
    elif strange := sorted(values.keys() - known):
        print(f"{HERE}: {source} has no parameter {', '.join(strange)}", file=sys.stderr)


def _target(options: argparse.Namespace, source: Path) -> Path:
    target = Path(options.output or source)
    if not target.parent.is_dir():
        raise Misuse(f"there is no folder {target.parent} to write {target.name} in.")
    if options.output and target.is_dir():
        raise Misuse(f"{target} is a folder: say which file to write in it.")
    return target


def _write(notebook: NotebookNode, target: Path) -> None:
    """All of it or nothing: a full disk leaves the file as it was. Who may read it may still do so, and a link goes on
    leading to it; what is no file, such as /dev/stdout, is written to."""
    text = scrub(written(notebook))
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    save_over(text, target)
