"""Test doubles for agents and tools: a scripted OpenAI-compatible server, the same script in-process, and a fast clock.

``with Server([call("price", {"sku": "A1"}), say("It costs 3 EUR.")]) as server:`` gives an endpoint at ``server.url``
for ``Agent("any", [price], base_url=server.url, api_key="none")``.
"""

from hermes_kernel.testing.clock import FastClock
from hermes_kernel.testing.model import ScriptedModel
from hermes_kernel.testing.overflows import OVERFLOWS, overflow
from hermes_kernel.testing.refusals import (
    HINTS,
    error_with_200,
    failed_generation,
    filtered,
    login_page,
    out_of_quota,
    rate_limited,
    refused_parameter,
    refused_tool_choice,
    status,
    unstreamed,
    without_tools,
)
from hermes_kernel.testing.replies import Tokens, billed, call, calls, say, torn, written_call
from hermes_kernel.testing.server import Request, Server
from hermes_kernel.testing.step import Soon, Step, forever, late, queued
from hermes_kernel.testing.trouble import (
    bad_arguments,
    cut_call,
    cut_off,
    disconnect,
    disconnect_in_call,
    duplicate_call,
    empty,
    error_in_stream,
    garbled,
    hang_up,
    no_choices,
    stall,
    thinking_only,
    unfinished,
)
from hermes_kernel.testing.wire import Asked, Thoughts

__all__ = [
    "HINTS",
    "OVERFLOWS",
    "Asked",
    "FastClock",
    "Request",
    "ScriptedModel",
    "Server",
    "Soon",
    "Step",
    "Thoughts",
    "Tokens",
    "bad_arguments",
    "billed",
    "call",
    "calls",
    "cut_call",
    "cut_off",
    "disconnect",
    "disconnect_in_call",
    "duplicate_call",
    "empty",
    "error_in_stream",
    "error_with_200",
    "failed_generation",
    "filtered",
    "forever",
    "garbled",
    "hang_up",
    "late",
    "login_page",
    "no_choices",
    "out_of_quota",
    "overflow",
    "queued",
    "rate_limited",
    "refused_parameter",
    "refused_tool_choice",
    "say",
    "stall",
    "status",
    "thinking_only",
    "torn",
    "unfinished",
    "unstreamed",
    "without_tools",
    "written_call",
]
