"""``hermes-kernel run``: a notebook executed from top to bottom, its outputs kept, also when a cell fails."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.trouble import Failure, Misuse
from hermes_kernel.core.text import brief

if TYPE_CHECKING:
    from nbformat import NotebookNode


def run(options: argparse.Namespace) -> int:
    """Execute, telling on stderr which cell is running.

    Raises:
        Misuse: there is no such notebook, or it is none.
        Failure: a cell failed; the notebook holds everything up to there.
    """
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    source = Path(options.notebook)
    target = Path(options.output or source)
    notebook = _read(source)
    client = _client(notebook, source, options.kernel)
    try:
        # as a Jupyter server tells a kernel whose it is; its conversations are found by it
        client.execute(env={**os.environ, "JPY_SESSION_NAME": str(source.absolute())})
    except CellExecutionError as error:
        raise Failure(f"{source}: a cell failed: {brief(f'{error.ename}: {error.evalue}', 300).rstrip(': ')}") from None
    except DeadKernelError:
        raise Failure(f"{source}: the kernel died") from None
    finally:
        _write(notebook, target)
    print(f"{target}: done", file=sys.stderr)
    return 0


def _read(path: Path) -> NotebookNode:
    import nbformat

    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise Misuse(f"there is no notebook {path}") from None
    except (nbformat.ValidationError, ValueError, TypeError, KeyError, AttributeError):
        # What nbformat raises depends on where in its upgrade from an older format a wrong file trips it.
        raise Misuse(f"{path} is not a notebook") from None
    return notebook


def _client(notebook: NotebookNode, source: Path, kernel: str | None) -> Any:
    from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec
    from nbclient import NotebookClient

    name = kernel or notebook.metadata.get("kernelspec", {}).get("name", "python3")
    try:
        get_kernel_spec(name)
    except NoSuchKernel:
        raise Misuse(f"there is no kernel {name} here. `jupyter kernelspec list` shows those there are.") from None
    total = len(notebook.cells)

    def tell(cell: NotebookNode, cell_index: int) -> None:
        print(f"[{cell_index + 1}/{total}] {brief(cell.source, 70)}", file=sys.stderr, flush=True)

    place = {"metadata": {"path": str(source.absolute().parent)}}
    # A turn has its own limits; a cell has none beside them.
    client = NotebookClient(notebook, timeout=None, kernel_name=name, resources=place, on_cell_execute=tell)
    if name in ("python3", "hermes"):
        client.extra_arguments = ["--IPKernelApp.log_level=ERROR"]  # it warns of plain TCP, which is loopback here
    return client


def _write(notebook: NotebookNode, target: Path) -> None:
    """All of it or nothing: a full disk leaves the file as it was."""
    import nbformat

    half = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        half.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)
