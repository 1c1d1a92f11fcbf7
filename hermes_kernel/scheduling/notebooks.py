"""Whether a file is a notebook that can be run as a job, and which parameters it takes."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store.disk import content

MOST = 100 * 1024 * 1024  # bytes
FORMAT = 4  # of the notebook format: the only one that has been written since 2015
OVER_PYTHON = re.compile(r"\A\s*%%(?:py|time|capture)\b.*")  # cell magics whose cells are Python
MAGIC = re.compile(r"^([ \t]*(?:[\w, \t]+=[ \t]*)?)[%!].*$", re.MULTILINE)  # IPython's own, and what assigns it


def checked_notebook(path: Path) -> Path:
    """`path`, which is a notebook.

    Raises:
        HermesError: there is no such file, it cannot be read, or it is no notebook.
    """
    _plain(path)
    return path


def digest(content: bytes) -> str:
    """By which a notebook is known again."""
    return hashlib.sha256(content).hexdigest()


def digest_of(path: Path) -> str:
    """That of a file. Raises `HermesError`: it cannot be read."""
    return digest(_content(path))


def parameters_of(path: Path) -> frozenset[str]:
    """The names that its cells tagged ``parameters`` assign; none where there is no such cell, or it cannot be read as
    Python. Raises as `checked_notebook`."""
    return parameters_in(_plain(path)["cells"])


def parameters_in(cells: Iterable[Any]) -> frozenset[str]:
    """The same of the cells of a notebook, whatever they are."""
    tagged = (cell for cell in cells if isinstance(cell, dict) and _is_tagged(cell))
    return frozenset(name for cell in tagged for name in _assigned(cell.get("source", "")))


def _is_tagged(cell: dict[str, Any]) -> bool:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and "parameters" in tags


def _assigned(source: Any) -> set[str]:
    lines = OVER_PYTHON.sub("", "".join(source) if isinstance(source, list) else str(source))
    foreign = lines.lstrip().startswith("%%")
    tree = _python(lines) or (not foreign and _python(MAGIC.sub(r"\1None", lines))) or ast.Module([], [])
    stores = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stores}


def _python(lines: str) -> ast.Module | None:
    try:
        return ast.parse(lines.lstrip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _plain(path: Path) -> dict[str, Any]:
    shown = brief(str(path), 200)
    if path.suffix != ".ipynb":
        raise HermesError(f"{shown} is no notebook: its name must end in .ipynb.")
    try:
        plain = json.loads(_content(path))
    except (ValueError, RecursionError):
        raise HermesError(f"{shown} is no notebook: it is not JSON.") from None
    if not isinstance(plain, dict) or not isinstance(plain.get("cells"), list) or plain.get("nbformat") != FORMAT:
        raise HermesError(f"{shown} is no notebook of format {FORMAT}: open it in Jupyter and save it there.")
    return plain


def _content(path: Path) -> bytes:
    shown = brief(str(path), 200)
    try:
        return content(path, MOST)
    except FileNotFoundError:
        raise HermesError(f"There is no notebook {shown}.") from None
    except OSError as error:
        raise HermesError(f"The notebook {shown} cannot be read: {error.strerror or error}.") from None
