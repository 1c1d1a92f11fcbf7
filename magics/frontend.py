"""Who looks at a cell's output: a notebook that updates, a console that only grows, a terminal, or nobody."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Frontend(Enum):
    """What an output may do, and whether a person can be asked."""

    NOTEBOOK = "notebook"
    CONSOLE = "console"
    TERMINAL = "terminal"
    HEADLESS = "headless"


def frontend(shell: InteractiveShell) -> Frontend:
    """What runs the present cell. Notebooks name the cell they run; a headless run (nbclient, nbval, papermill) does
    not, and lets nobody be asked."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return Frontend.TERMINAL if sys.stdin is not None and sys.stdin.isatty() else Frontend.HEADLESS
    metadata = (kernel.get_parent("shell") or {}).get("metadata") or {}
    if metadata.get("cellId"):
        return Frontend.NOTEBOOK
    return Frontend.CONSOLE if allows_stdin(shell) else Frontend.HEADLESS


def allows_stdin(shell: InteractiveShell) -> bool:
    """The client of the present cell answers ``input()``."""
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", False))
