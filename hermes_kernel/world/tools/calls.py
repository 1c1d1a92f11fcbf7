"""From what the model asked for to what can be run: a call is either `Ready` or already `Answered`.

Unknown tool, flawed or bad arguments and a repeated failure are one path; none of them reaches a tool.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.tools.arguments import Misfit, fit_arguments, folded
from hermes_kernel.world.tools.guard import Guard, Signature
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool

NAMES_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Ready:
    """A call that can be run, with its arguments as the tool's schema wants them."""

    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]
    signature: Signature
    risk: Risk | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A call that is not run; ``text`` tells the model why and what to do instead."""

    call: ToolCall
    text: str


def prepare(call: ToolCall, tools: Mapping[str, Tool], guard: Guard) -> Ready | Answered:
    """What becomes of `call`. The guard is asked, not told."""
    tool = tools.get(resolve(call.name, tools))
    if tool is None:
        return Answered(call, _unknown(call.name, tools))
    if call.flaw:
        return Answered(
            call, f"{tool.name} was not run: {call.flaw}. Send the arguments again as one complete JSON object."
        )
    signature = (tool.name, _canonical(call.arguments))
    objection = guard.objection(signature)
    if objection:
        return Answered(call, objection)
    try:
        arguments = fit_arguments(_object(call.arguments), json.loads(tool.parameters))
    except Misfit as misfit:
        text = f"{tool.name} was not run: {misfit}"
        guard.record(signature, text, ok=False, harmless=True)
        return Answered(call, text)
    return Ready(call, tool, arguments, signature, _risk(tool, arguments))


def _risk(tool: Tool, arguments: Mapping[str, Any]) -> Risk | None:
    if tool.dangerous is None:
        return None
    try:
        return tool.dangerous(arguments)
    except Exception as error:  # noqa: BLE001 - a check that fails has not said that the call is harmless
        return Risk(f"unjudged:{tool.name}", f"whether it is dangerous could not be told ({brief(repr(error), 120)})")


def resolve(name: str, tools: Mapping[str, Tool]) -> str:
    """The tool that can only be meant by `name`: case, ``-`` for ``_``, CamelCase and a ``functions.`` prefix do not
    matter. ``""`` when there is none, or more than one."""
    if name in tools:
        return name
    wanted = {folded(name), folded(re.split(r"[.:/]", name.strip())[-1])} - {""}
    alike = [known for known in tools if folded(known) in wanted]
    return alike[0] if len(alike) == 1 else ""


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    names = {folded(known): known for known in tools}
    near = [names[match] for match in difflib.get_close_matches(folded(name)[:200], names, n=3, cutoff=0.5)]
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    known = ", ".join(list(tools)[:NAMES_SHOWN]) or "none; answer in words"
    return f"There is no tool named {brief(scrub(name), 80)!r}.{meant} The tools are: {known}."


def _object(text: str) -> dict[str, Any]:
    try:
        value = scrubbed(json.loads(text or "{}", parse_constant=_no_constant))
    except (ValueError, RecursionError) as error:
        raise Misfit(f"the arguments are not JSON ({brief(str(error), 120)}). Send one JSON object.") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Misfit(f"the arguments are a {type(value).__name__}. Send one JSON object with the parameters by name.")
    return value


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def scrubbed(value: Any) -> Any:
    """A JSON value whose strings no encoder refuses."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {scrub(key): scrubbed(item) for key, item in value.items()}
    return value


def _canonical(text: str) -> str:
    try:
        return json.dumps(json.loads(text or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return text
