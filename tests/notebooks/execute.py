"""Execute notebooks and keep their outputs: ``python -m tests.notebooks.execute notebooks/01_the_turn.ipynb``.

The notebook itself is the source; run this after changing a cell, look at the difference, commit it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

from hermes_kernel.testing import run_notebook


def execute(path: Path) -> None:
    """Run every cell of the notebook at `path` in a fresh kernel and store it with its outputs, free of what changes from
    run to run."""
    notebook = run_notebook(path).node
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        execute(Path(name))
