"""An existing notebook with parameters in it where papermill has them; for a job, a copy without outputs."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.running.nodes import code, kernel_of, read
from hermes_kernel.scheduling.running.parameters import assignments

if TYPE_CHECKING:
    from nbformat import NotebookNode

PARAMETERS, INJECTED = "parameters", "injected-parameters"
OF_ONE_RUN = ("widgets", "papermill")  # metadata
NAMED = 5  # the minor format from which on cells have ids


def filled(job: Job) -> NotebookNode:
    """The notebook as this job runs it.

    Raises:
        HermesError: there is none, it is damaged or too large, or a parameter cannot be written down.
    """
    notebook = read(Path(job.notebook), job.digest)
    for name in OF_ONE_RUN:
        notebook.metadata.pop(name, None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("execution", None)
    if job.parameters:
        for_python(notebook, job.notebook)
        inject(notebook, assignments(job.parameters), kernel_of(notebook))
    _name_cells(notebook)
    return notebook


def for_python(notebook: NotebookNode, name: str) -> None:
    """Raises: HermesError: it is for another language, in which nothing is assigned for it."""
    if _language(notebook) != "python":
        raise HermesError(f"{name} is not for Python: parameters can be given to Python notebooks only.")


def inject(notebook: NotebookNode, lines: str, kernel: str) -> None:
    """Have these assignments run in `kernel`: in the place of those that were injected before, else behind the cell
    tagged ``parameters``, else first of all."""
    before = next((n for n, cell in enumerate(notebook.cells) if INJECTED in _tags(cell)), None)
    cells = [cell for cell in notebook.cells if INJECTED not in _tags(cell)]
    after = next((n for n, cell in enumerate(cells, 1) if PARAMETERS in _tags(cell)), 0)
    made = code(_free(cells), f"%%py\n{lines}" if kernel == "hermes" else lines, INJECTED)
    if notebook.nbformat_minor < NAMED:
        del made["id"]
    cells.insert(after if before is None else before, made)
    notebook.cells = cells


def _free(cells: list[Any]) -> str:
    """An id that no other cell has."""
    taken = {cell.get("id") for cell in cells}
    return next(name for n in count(1) if (name := INJECTED if n == 1 else f"{INJECTED}-{n}") not in taken)


def _tags(cell: Any) -> list[str]:
    tags = cell.metadata.get("tags")
    return tags if isinstance(tags, list) else []


def _language(notebook: NotebookNode) -> str:
    """What it is written in, as it says itself; Python where it does not."""
    places = (("kernelspec", "language"), ("language_info", "name"))
    parts = ((notebook.metadata.get(part), name) for part, name in places)
    said = [part.get(name) for part, name in parts if isinstance(part, dict)]
    return next((str(each).lower() for each in said if each), "python")


def _name_cells(notebook: NotebookNode) -> None:
    """Each has an id, the same in every copy: format 4.5, which has them."""
    notebook.nbformat_minor = max(NAMED, notebook.nbformat_minor)
    taken = {cell.get("id") for cell in notebook.cells}
    for n, cell in enumerate(notebook.cells, 1):
        if not cell.get("id"):
            cell.id = next(name for name in (f"cell-{n}", f"cell-{n}-of-run") if name not in taken)
