"""Loop 1: what a reply asks for is run, all at once, and every call gets exactly one bounded, honest answer."""

from hermes_kernel.world.tools.registry import NoTool, Tools
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool, tool, tool_of, tools_in
from hermes_kernel.world.tools.usercode import inside_user_code

__all__ = ["NoTool", "Result", "Risk", "Tool", "ToolError", "Tools", "inside_user_code", "tool", "tool_of", "tools_in"]
