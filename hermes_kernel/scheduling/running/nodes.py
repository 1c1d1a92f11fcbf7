"""Notebooks as nbformat has them, in and out. Imported when first needed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.notebooks import MOST, digest
from hermes_kernel.world.store.disk import content

if TYPE_CHECKING:
    from nbformat import NotebookNode

GRAMMARS = "rfc3987_syntax"
DAMAGED = "{} is not a notebook, or a damaged one"
OTHER = "{} was changed since it was agreed to: `schedule change NAME --notebook PATH` agrees to it as it is now"


def node(plain: Mapping[str, Any]) -> NotebookNode:
    """A notebook or a cell, from what its JSON says."""
    return cast("NotebookNode", _nbformat().from_dict(plain))


def markdown(place: str, text: str) -> NotebookNode:
    """A cell of words. ``place`` is its id."""
    return node({"cell_type": "markdown", "id": place, "metadata": {}, "source": text})


def code(place: str, source: str, *tags: str) -> NotebookNode:
    """A cell that was not run yet."""
    metadata = {"tags": list(tags)} if tags else {}
    unrun: dict[str, Any] = {"execution_count": None, "outputs": []}
    return node({"cell_type": "code", "id": place, "metadata": metadata, "source": source, **unrun})


def read(path: Path, agreed: str = "") -> NotebookNode:
    """The notebook in a file; with the digest ``agreed``, just that one.

    Raises:
        HermesError: there is none, it is damaged or too large, or it is another.
    """
    nbformat = _nbformat()
    try:
        with warnings.catch_warnings(action="ignore"):  # cells of older notebooks have no ids: they get some
            raw = content(path, MOST)
            if agreed and digest(raw) != agreed:
                raise HermesError(OTHER.format(path))
            notebook = cast("NotebookNode", nbformat.reads(raw.decode(), as_version=4))
    except FileNotFoundError:
        raise HermesError(f"there is no notebook {path}") from None
    except OSError as error:
        raise HermesError(f"the notebook {path} cannot be read: {error.strerror or error}") from None
    except (nbformat.ValidationError, ValueError, TypeError, KeyError, AttributeError, AssertionError, RecursionError):
        # What nbformat raises depends on where in its upgrade from an older format a wrong file trips it.
        raise HermesError(DAMAGED.format(path)) from None
    if not _sound(notebook):  # nbformat itself only logs it
        raise HermesError(DAMAGED.format(path))
    return notebook


def written(notebook: NotebookNode) -> str:
    """As it is in a file."""
    return str(_nbformat().writes(notebook)) + "\n"


def kernel_of(notebook: NotebookNode) -> str:
    """The name of the kernel it is for."""
    spec: Any = notebook.metadata.get("kernelspec")
    return str(spec.get("name") or "python3") if isinstance(spec, dict) else "python3"


def _sound(notebook: Any) -> bool:
    """What everybody takes for granted."""
    cells = notebook.get("cells")
    whole = isinstance(notebook.get("metadata"), dict) and isinstance(notebook.get("nbformat_minor"), int)
    return whole and isinstance(cells, list) and all(map(_is_cell, cells))


def _is_cell(cell: Any) -> bool:
    said = [cell.get(name) for name in ("cell_type", "source")] if isinstance(cell, dict) else [None]
    return all(isinstance(each, str) for each in said) and isinstance(cell.get("metadata"), dict)


def _nbformat() -> Any:
    """The library, imported without a hundred grammars of addresses, a second of CPU: jsonschema, with which it checks,
    takes them from JupyterLab's packages, for a check that no notebook asks for. They are not to be found meanwhile."""
    if "nbformat" in sys.modules:
        return sys.modules["nbformat"]
    there = sys.modules.get(GRAMMARS)
    sys.modules[GRAMMARS] = cast("ModuleType", there)  # None: an `ImportError`, with which jsonschema does without
    try:
        return import_module("nbformat")
    finally:
        if there is None:
            del sys.modules[GRAMMARS]
