"""Hermes Kernel: a production-grade agent loop that lives in the notebook.

Importing it is cheap: everything public is loaded when it is first used.
PYTEST_DONT_REWRITE: a pytest that is started in a notebook finds this loaded, and would warn of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.agent import Agent
    from hermes_kernel.core.events import Outcome
    from hermes_kernel.core.messages import Image
    from hermes_kernel.core.turn import Turn
    from hermes_kernel.delegating.tasks import Task
    from hermes_kernel.errors import HermesError
    from hermes_kernel.settings import Settings, SettingsError
    from hermes_kernel.world.tools import Result, Risk, Tool, ToolError, tool

__version__ = "0.1.0"

_HOME = {
    "Agent": "hermes_kernel.agent",
    "HermesError": "hermes_kernel.errors",
    "Image": "hermes_kernel.core.messages",
    "Outcome": "hermes_kernel.core.events",
    "Result": "hermes_kernel.world.tools",
    "Risk": "hermes_kernel.world.tools",
    "Settings": "hermes_kernel.settings",
    "SettingsError": "hermes_kernel.settings",
    "Task": "hermes_kernel.delegating.tasks",
    "Tool": "hermes_kernel.world.tools",
    "ToolError": "hermes_kernel.world.tools",
    "Turn": "hermes_kernel.core.turn",
    "tool": "hermes_kernel.world.tools",
}

__all__ = [
    "Agent",
    "HermesError",
    "Image",
    "Outcome",
    "Result",
    "Risk",
    "Settings",
    "SettingsError",
    "Task",
    "Tool",
    "ToolError",
    "Turn",
    "load_ipython_extension",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hermes_kernel' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext hermes_kernel`` is ``%load_ext magics``."""
    if shell.extension_manager is not None:
        shell.extension_manager.load_extension("magics")
