"""A notebook executed for a test: from top to bottom in a kernel of its own, in its folder, with nobody there."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Notebook:
    """An executed notebook; ``node`` is all of it, as nbformat has it."""

    node: NotebookNode

    @property
    def cells(self) -> tuple[str, ...]:
        """What each code cell showed, as text, the first cell's first."""
        return tuple(_shown(cell.outputs) for cell in self.node.cells if cell.cell_type == "code")

    @property
    def text(self) -> str:
        """What all cells showed, as text."""
        return "\n".join(cell for cell in self.cells if cell)

    def __repr__(self) -> str:
        return f"<Notebook of {len(self.cells)} code cells>"


def run_notebook(path: str | os.PathLike[str], *, seconds: float = CELL_SECONDS) -> Notebook:
    """Execute the notebook at `path`; the file stays as it is. A cell may take `seconds`.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed; the text has the cell and its traceback.
        FileNotFoundError: there is no such notebook.
    """
    import nbformat

    from hermes_kernel.testing.starting import Client

    path = Path(path).absolute()
    node = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    # as a Jupyter server tells a kernel whose it is
    environ = {**os.environ, "JPY_SESSION_NAME": str(path)}
    folder = {"metadata": {"path": str(path.parent)}}
    client = Client(node, timeout=seconds, resources=folder, coalesce_streams=True)
    with warnings.catch_warnings():  # that loopback is not encrypted
        warnings.simplefilter("ignore")
        client.execute(env=environ)
    return Notebook(node)


def _shown(outputs: list[Any]) -> str:
    return "".join(_plain(output) for output in outputs).strip()


def _plain(output: Any) -> str:
    text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue") or ""
    return text if output.output_type == "stream" else f"{text}\n"
