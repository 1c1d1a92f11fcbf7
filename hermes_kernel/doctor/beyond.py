"""What long conversations, subagents and other people's tools need: a window, a model aside, a kernel, servers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from hermes_kernel.core.text import brief
from hermes_kernel.core.windows import Window, known, means, window_in
from hermes_kernel.doctor.finding import Finding, State
from hermes_kernel.settings import Settings, near
from hermes_kernel.world.mcp.described import Described, WrongServer
from hermes_kernel.world.mcp.roster import Roster

UNKNOWN = "not known: a conversation is compressed only once the server refuses it"
SOURCES = {"models": "the server says so", "table": "a well-known model", "setting": "set"}


def window(settings: Settings, answer: object) -> Iterator[Finding]:
    """How much the model reads, as far as it can be told without asking it: `answer` is the server's list of models."""
    if settings.model == "?":
        return
    found = (
        Window(settings.context_window, source="setting")
        if settings.context_window
        else window_in(answer, settings.model) or known(settings.model, hosted=not near(settings.base_url))
    )
    if found is None:
        yield Finding("window", State.NOTE, UNKNOWN, "set HERMES_CONTEXT_WINDOW to the tokens that the model reads")
    else:
        yield Finding("window", State.OK, f"{found.tokens:,} tokens ({SOURCES.get(found.source, found.source)})")


def aux(settings: Settings, models: tuple[str, ...]) -> Iterator[Finding]:
    """The model for side work, where one is named that should be at this endpoint."""
    name = settings.aux_model
    if not name or "@" in name:
        return
    if any(means(each, name) for each in models):
        yield Finding("aux_model", State.OK, name)
        return
    some = brief(", ".join(models[:8]), 200)
    said = f"{name} is not among those offered; summaries are asked of the main model"
    yield Finding("aux_model", State.PROBLEM, said, f"set HERMES_AUX_MODEL: {some}")


def kernel_of_subagents(settings: Settings) -> Iterator[Finding]:
    """The kernel in which a subagent's Python runs."""
    from jupyter_client.kernelspec import KernelSpecManager

    name, there = settings.delegate_kernel, KernelSpecManager().find_kernel_specs()
    if name in there:
        yield Finding("subagents", State.OK, f"their Python runs in the kernel {name}")
        return
    some = brief(", ".join(sorted(there)) or "none", 160)
    yield Finding(
        "subagents", State.NOTE, f"there is no kernel {name} for their Python", f"HERMES_DELEGATE_KERNEL: {some}"
    )


def servers(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Each MCP server that is configured: whether it could be started. None is."""
    described = Roster(settings.home, settings.mcp_servers).changed() or []
    if any(not server.disabled for server, _ in described) and find_spec("mcp") is None:
        yield Finding("MCP", State.PROBLEM, "the package mcp is missing", 'pip install "hermes-kernel[mcp]"')
    for server, wrong in described:
        what = f"MCP {brief(server.name, 40)}"
        if problem := wrong or _trouble(server, environ):
            yield Finding(
                what, State.PROBLEM, problem, "mend it in mcp.json or kernel.toml, or `%hermes mcp remove` it"
            )
        else:
            yield Finding(what, State.OK, f"{server.how}{' (off)' if server.disabled else ''}")


def _trouble(server: Described, environ: Mapping[str, str]) -> str:
    """Why it could not be started; nothing where it could, or is switched off."""
    if server.disabled:
        return ""
    try:
        filled, _ = server.filled(environ)
    except WrongServer as error:
        return str(error)
    if filled.command and shutil.which(filled.command[0], path=filled.env.get("PATH", environ.get("PATH"))) is None:
        return f"there is no command {brief(server.command[0], 80)} on the PATH"
    return ""
