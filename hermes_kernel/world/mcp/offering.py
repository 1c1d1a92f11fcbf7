"""What a server says that it has, as tools that a model can be offered: bounded, named, described, never believed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.described import Described
from hermes_kernel.world.mcp.naming import seen, tool_name
from hermes_kernel.world.mcp.schemas import Unusable, usable
from hermes_kernel.world.tools.results import Result
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool

if TYPE_CHECKING:
    from mcp import types

TOOLS = 128  # of one server; it is the most that a provider takes of all
DESCRIPTION = 2_000  # characters
LINES = 8  # about tools that are left out
RULE = 80  # characters of a tool's name that an answer for good is remembered by, besides a hash

Call = Callable[[str, Mapping[str, Any]], Awaitable[Result]]
"""Has the server run its tool of this name with these arguments."""


@dataclass(slots=True)
class Offered:
    """The tools of a server by its own names for them, and a line about each that is left out."""

    tools: dict[str, Tool] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def without(self, line: str) -> None:
        """One more is left out. Of very many, some are named."""
        if len(self.left_out) < LINES:
            self.left_out.append(line)


def offered(
    server: Described, listed: Sequence[types.Tool], call: Call, safe: Callable[[str], str], *, more: bool = False
) -> Offered:
    """What `server` may offer of the tools that it `listed`, in its order, with nothing in its words that `safe` takes
    out. ``more``: the list has not come to an end."""
    made = Offered()
    taken: set[str] = set()
    for tool in listed:
        if tool.name in made.tools:
            continue
        if len(made.tools) >= TOOLS:
            more = True
            break
        try:
            name = tool_name(server.name, tool.name, taken)
            made.tools[tool.name] = _tool(server, tool, name, call, safe)
            taken.add(name)
        except Unusable as error:
            made.without(f"{brief(seen(tool.name, 80, safe), 80)} is left out: {error}")
    if more:
        made.without(f"it has more than {TOOLS} tools; the rest are left out")
    return made


def _tool(server: Described, tool: types.Tool, name: str, call: Call, safe: Callable[[str], str]) -> Tool:
    if tool.name != safe(tool.name):
        raise Unusable("its name has a secret in it")

    async def run(**arguments: Any) -> Result:
        return await call(tool.name, arguments)

    hints = tool.annotations
    harmless = bool(hints and hints.read_only_hint)
    said = seen(tool.description or tool.title or "", DESCRIPTION, safe)
    about = f"[A tool of the MCP server {server.name!r}, described by it] {said}"
    parameters = usable(tool.input_schema, safe)
    risk = None if server.trust else _risk(server.name, tool.name)  # what a server says of its own tools proves nothing
    return Tool(
        name,
        about,
        parameters,
        run,
        repeatable=server.trust and harmless,
        dangerous=None if risk is None else lambda _: risk,
    )


def _risk(server: str, tool: str) -> Risk:
    named = brief(seen(tool, 80), 80)
    return Risk(rule_of(server, tool), f"{named!r} is a tool of the MCP server {server!r}, which is not trusted")


def rule_of(server: str, tool: str) -> str:
    """What a person's "always" is remembered by: of no other pair of names, whatever is in them, and never long."""
    mark = hashlib.sha256(tool.encode("utf-8", "replace")).hexdigest() if len(tool) > RULE else ""
    return f"mcp:{json.dumps(server)}:{json.dumps(tool[:RULE] + mark)}"
