"""``hermes-kernel run``: a notebook executed from top to bottom, its outputs kept, also when a cell fails."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.cli.trouble import Failure, Misuse
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.running.nodes import kernel_of, read, written
from hermes_kernel.world.stop import Stop

if TYPE_CHECKING:
    from nbformat import NotebookNode


def run(options: argparse.Namespace) -> int:
    """Execute, telling on stderr which cell is running.

    Raises:
        Misuse: there is no such notebook or kernel, or it is none.
        Failure: a cell failed; the notebook holds everything up to there.
    """
    from hermes_kernel.scheduling.running.executing import Execution

    source = Path(options.notebook)
    target = Path(options.output or source)
    notebook = _read(source)
    # as a Jupyter server tells a kernel whose it is; its conversations are found by it
    environ = {**os.environ, "JPY_SESSION_NAME": str(source.absolute())}

    def begins(n: int) -> None:
        words = brief(notebook.cells[n].source, 70)
        print(f"[{n + 1}/{len(notebook.cells)}] {words}", file=sys.stderr, flush=True)

    try:
        name = options.kernel or kernel_of(notebook)
        execution = Execution(notebook, name, source.absolute().parent, environ, begins=begins)
    except HermesError as error:
        raise Misuse(str(error)) from None
    try:
        asyncio.run(execution.run(Stop()))
    except HermesError as error:
        raise Failure(f"{source}: {error}") from None
    finally:
        _write(notebook, target)
    print(f"{target}: done", file=sys.stderr)
    return 0


def _read(path: Path) -> NotebookNode:
    try:
        return read(path)
    except HermesError as error:
        raise Misuse(str(error)) from None


def _write(notebook: NotebookNode, target: Path) -> None:
    """All of it or nothing: a full disk leaves the file as it was."""
    half = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        half.write_text(written(notebook), encoding="utf-8")
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)
