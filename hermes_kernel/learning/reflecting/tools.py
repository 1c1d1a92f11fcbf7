"""The tool `skill_manage` as a review has it: one look changes one skill, and puts none away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hermes_kernel.world.tools.results import ToolError
from hermes_kernel.world.tools.tool import Tool

OTHER = "This look has changed the skill {!r} already, and one is enough. Improve that one, or come to an end."
AWAY = "A look back puts no skill away; patch it, or leave it as it is."


def one_skill_only(tool: Tool) -> Tool:
    """`tool`, a plain function of a ``name`` and an ``action``, for a single skill."""
    changed: list[str] = []

    def run(**arguments: Any) -> Any:
        name = str(arguments.get("name", ""))
        if arguments.get("action") == "archive":
            raise ToolError(AWAY)
        if changed and name != changed[0]:
            raise ToolError(OTHER.format(changed[0]))
        result = tool.run(**arguments)
        changed[:] = [name]
        return result

    return replace(tool, run=run)
