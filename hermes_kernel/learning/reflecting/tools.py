"""The tool `skill_manage` as a review has it: one look changes one skill."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.tool import Tool

OTHER = "This look has changed the skill `{}` already, and one is enough. Improve that one, or come to an end."


def one_skill_only(tool: Tool) -> Tool:
    """`tool` for a single skill: once one was changed, another is refused."""
    changed: list[str] = []

    async def run(**arguments: Any) -> Any:
        name = str(arguments.get("name", ""))
        if changed and name != changed[0]:
            raise ToolError(OTHER.format(changed[0]))
        made = tool.run(**arguments)
        result = await made if inspect.isawaitable(made) else made
        if not changed and (not isinstance(result, Result) or result.ok):
            changed.append(name)
        return result

    return replace(tool, run=run)
