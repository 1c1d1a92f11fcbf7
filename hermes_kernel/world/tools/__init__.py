"""Loop 1: what a reply asks for is run, all at once, and every call gets exactly one bounded, honest answer.

A function is marked as a `tool` long before an agent has it: the toolbox (`registry`) is loaded when it is first used.
There `calls` says what can be run and `approvals` whether it may be, where `danger` is seen; the `runner` runs it, and
`results` and `keeping` make an answer of what it gave. A module with the name of a tool is that tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool, tool, tool_of, tools_in
from hermes_kernel.world.tools.usercode import inside_user_code

if TYPE_CHECKING:
    from hermes_kernel.world.tools.registry import NoTool, Tools

__all__ = ["NoTool", "Result", "Risk", "Tool", "ToolError", "Tools", "inside_user_code", "tool", "tool_of", "tools_in"]


def __getattr__(name: str) -> Any:
    if name not in ("NoTool", "Tools"):
        raise AttributeError(f"module 'hermes_kernel.world.tools' has no attribute {name!r}")
    from hermes_kernel.world.tools import registry

    return getattr(registry, name)
